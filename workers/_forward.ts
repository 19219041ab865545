/**
 * An object that stands in for `target`: it has what `own` has in its place, and the rest of
 * `target` with `target` as `this`, as objects of the platform need it.
 */
export function forward<T extends object>(target: T, own: object): T {
  const methods = new Map<PropertyKey, { readonly of: unknown; readonly bound: unknown }>();
  return new Proxy(target, {
    get(_, name): unknown {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name);
      const value = Reflect.get(target, name, target) as unknown;
      if (typeof value !== "function" || name === "constructor") return value;
      let method = methods.get(name);
      if (method?.of !== value) {
        methods.set(name, method = { of: value, bound: value.bind(target) as unknown });
      }
      return method!.bound;
    },
    set(_, name, value): boolean {
      return Object.hasOwn(own, name)
        ? Reflect.set(own, name, value)
        : Reflect.set(target, name, value, target);
    },
  });
}
