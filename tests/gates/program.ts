/** The path of the first of these programs that PATH has, or `undefined`. */
export function findProgram(...names: string[]): string | undefined {
  const folders = (Deno.env.get("PATH") ?? "").split(Deno.build.os === "windows" ? ";" : ":");
  // Services such as nats-server are where only root's PATH looks.
  for (const folder of [...folders, "/usr/sbin", "/usr/local/sbin"]) {
    for (const name of names) {
      const path = `${folder}/${name}`;
      try {
        if (folder !== "" && Deno.statSync(path).isFile) return path;
      } catch {
        // Not in this folder.
      }
    }
  }
  return undefined;
}
