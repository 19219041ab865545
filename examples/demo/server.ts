import { placeOrder } from "./shop.ts";
import { requestId, user } from "./slots.ts";

/** Binds who asks and which request it is. From here on no function takes them as arguments. */
function handle(request: Request): Promise<Response> {
  return user.run(
    request.headers.get("x-user") ?? "nobody",
    () =>
      requestId.run(request.headers.get("x-request-id") ?? "none", async () => {
        await placeOrder(request);
        return new Response("thank you\n");
      }),
  );
}

const server = Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => console.log(JSON.stringify({ port })),
}, handle);

// The server lives until whoever started it closes its input.
for await (const _ of Deno.stdin.readable);
await server.shutdown();
Deno.exit();
