/**
 * Values as expressions of CEL, in the form that the JSON patches of admission policies take: objects are typed literals
 * (`Object.spec.volumes{name: "x"}`), because literals of maps must not mix types. It knows nothing of pods.
 */

const RAW = Symbol('an expression');
interface Raw {
  readonly [RAW]: string;
}
/** An expression in the place of a value. In a field whose name begins with `?` it yields an optional. */
export const raw = (expression: string): Raw => ({ [RAW]: expression });

const isRaw = (value: unknown): value is Raw => typeof value === 'object' && value !== null && RAW in value;

/** `type` is the path of the type: `Object.spec.initContainers`. */
export function cel(value: unknown, type: string, indent = ''): string {
  if (isRaw(value)) return value[RAW];
  if (Array.isArray(value)) {
    if (value.every((each) => typeof each !== 'object')) return `[${value.map((each) => cel(each, type)).join(', ')}]`;
    return block(
      '[',
      value.map((each) => cel(each, type, `${indent}  `)),
      ']',
      indent,
    );
  }
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).map(([name, inner]) => {
      const plainName = name.replace(/^\?/, '');
      return `${name}: ${cel(inner, `${type}.${plainName}`, `${indent}  `)}`;
    });
    return block(`${type}{`, fields, '}', indent);
  }
  return JSON.stringify(value);
}

const block = (open: string, parts: readonly string[], close: string, indent: string): string =>
  parts.length === 0
    ? open + close
    : `${open}\n${parts.map((part) => `${indent}  ${part}`).join(',\n')}\n${indent}${close}`;
