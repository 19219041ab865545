/**
 * The number of the layout that copies of this package share in one isolate: the frame's places,
 * the fields of slots, guards and threads, and the names given to {@linkcode shared}.
 * It changes whenever an older copy would misread what a newer one writes.
 */
export const PROTOCOL = 1;

const WORLDS = Symbol.for("@thread-local/core");

type World = Map<string, unknown>;

/**
 * Finds the world of this protocol number, or begins it. Copies of other numbers live in the same
 * map, apart from ours.
 */
function findWorld(): World {
  const holder = globalThis as { [WORLDS]?: Map<number, World> };
  const worlds = holder[WORLDS] ??= new Map();
  let world = worlds.get(PROTOCOL);
  if (world === undefined) {
    const others = [...worlds.keys()];
    worlds.set(PROTOCOL, world = new Map());
    if (others.length > 0) {
      console.warn(
        `Two incompatible copies of @thread-local/core are loaded: this one speaks protocol ` +
          `${PROTOCOL}, an earlier one ${others.join(", ")}. They share no slots and no state. ` +
          `Make every package resolve to one version (see "deno info" or "npm ls").`,
      );
    }
  }
  return world;
}

const world = findWorld();

/**
 * Returns the one value of this name in the isolate, made by whichever copy of the package asked
 * first. Modules keep their module-level state here and nowhere else, so that a package loaded
 * twice, under two URLs, still has one registry and one current frame.
 */
export function shared<T>(name: string, create: () => T): T {
  if (!world.has(name)) world.set(name, create());
  return world.get(name) as T;
}
