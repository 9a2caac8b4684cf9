/**
 * Methods of the classes of fetch, as they are when a wrapped fetch is called for the first time. Not when the tap is loaded: to name one
 * of these classes makes Node load its undici, which then sets the dispatcher that an npm copy of undici would have set for itself.
 */

interface Methods {
  readonly get: typeof Headers.prototype.get;
  readonly delete: typeof Headers.prototype.delete;
  readonly clone: typeof Request.prototype.clone;
}

let methods: Methods | undefined;

export function fetchMethods(): Methods {
  if (methods === undefined) {
    const { get, delete: remove } = Headers.prototype;
    methods = { get, delete: remove, clone: Request.prototype.clone };
  }
  return methods;
}
