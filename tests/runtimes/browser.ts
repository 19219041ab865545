import type { SmokeResult } from "./smoke_result.ts";

/** A browser that has not answered after this long, in milliseconds, never will. */
const LIMIT = 60_000;

/** Quiet, and without any connection but the one to our page. */
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Bundles `entry` for browsers; nothing may be left to be imported. */
export async function bundle(esbuild: string, folder: string, entry: string): Promise<string> {
  const { success, stderr } = await new Deno.Command(esbuild, {
    args: [
      entry,
      "--bundle",
      "--platform=browser",
      "--format=esm",
      "--outfile=bundle.js",
      "--metafile=bundle.json",
      "--log-level=warning",
    ],
    cwd: folder,
    stdout: "null",
  }).output();
  const said = new TextDecoder().decode(stderr).trim();
  if (!success || said !== "") throw new Error(`Cannot bundle ${entry} for browsers:\n${said}`);
  return await Deno.readTextFile(`${folder}/bundle.js`);
}

/** What the bundle in `folder` would still have to import: `node:async_hooks`, if we did it wrong. */
export async function importsLeft(folder: string): Promise<string[]> {
  const meta: { outputs: Record<string, { imports: { path: string }[] }> } = JSON.parse(
    await Deno.readTextFile(`${folder}/bundle.json`),
  );
  return Object.values(meta.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
}

/** An error outside the checks must not look like a page that is slow. */
const PAGE = `<!doctype html><meta charset="utf-8"><script>
const fail = (error) =>
  fetch("/results", {
    method: "POST",
    body: JSON.stringify([{ name: "the page runs without an error", error }]),
  });
addEventListener("error", ({ message, filename, lineno }) =>
  fail(message + " at " + filename + ":" + lineno));
addEventListener("unhandledrejection", ({ reason }) => fail(reason.stack ?? String(reason)));
</script><script type="module" src="/bundle.js"></script>`;

/**
 * Opens a page with `script` in a browser and returns the results that the page sends back.
 *
 * @param profile An empty folder for what the browser remembers.
 */
export async function runPage(
  browser: string,
  script: string,
  profile: string,
): Promise<SmokeResult[]> {
  const answered = Promise.withResolvers<SmokeResult[]>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    switch (new URL(request.url).pathname) {
      case "/":
        return new Response(PAGE, { headers: { "content-type": "text/html" } });
      case "/bundle.js":
        return new Response(script, { headers: { "content-type": "text/javascript" } });
      case "/results":
        answered.resolve(await request.json());
        return new Response();
    }
    return new Response(null, { status: 404 });
  });
  const child = new Deno.Command(browser, {
    args: [...FLAGS, `--user-data-dir=${profile}`, `http://127.0.0.1:${server.addr.port}/`],
    stdout: "null",
    stderr: "null",
  }).spawn();
  const ended = child.status.then(({ code }) => {
    throw new Error(`${browser} ended with status ${code} before the page answered`);
  });
  const timer = setTimeout(
    () => answered.reject(new Error(`The page did not answer within ${LIMIT} ms`)),
    LIMIT,
  );
  try {
    return await Promise.race([answered.promise, ended]);
  } finally {
    clearTimeout(timer);
    ended.catch(() => {});
    child.kill();
    await child.status;
    await server.shutdown();
  }
}
