/**
 * Whether a pod has the shape that the rest of this folder reads: lists where lists belong, names that are text. It refuses what a
 * cluster would refuse too, with its place, so that a slip in a manifest is a line for its author and no crash. It judges no meaning.
 */
import { InjectRefusal } from './options.ts';

type Field = readonly (string | number)[];
type Plain = Readonly<Record<string, unknown>>;

const isSet = (value: unknown): boolean => value !== undefined && value !== null;
const isPlain = (value: unknown): value is Plain =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function asMap(value: unknown, field: Field): Plain {
  if (!isSet(value)) return {};
  if (!isPlain(value)) throw new InjectRefusal(field, 'a map belongs here');
  return value;
}

/** The items of a list; each is a map and has text under these keys. */
function asList(value: unknown, field: Field, keys: readonly string[]): (readonly [Plain, Field])[] {
  if (!isSet(value)) return [];
  if (!Array.isArray(value)) throw new InjectRefusal(field, 'a list belongs here');
  return value.map((item: unknown, index) => {
    const place = [...field, index];
    if (!isPlain(item)) throw new InjectRefusal(place, 'a map belongs here');
    for (const key of keys)
      if (typeof item[key] !== 'string') throw new InjectRefusal([...place, key], `${key} is missing, or no text`);
    return [item, place] as const;
  });
}

/** @throws InjectRefusal */
export function refuseShape(spec: object): void {
  const { containers, initContainers, ephemeralContainers, volumes, ...rest } = spec as Plain;
  const { securityContext, nodeSelector, os, terminationGracePeriodSeconds: grace } = rest;
  for (const [list, name] of [
    [containers, 'containers'],
    [initContainers, 'initContainers'],
    [ephemeralContainers, 'ephemeralContainers'],
  ] as const)
    for (const [container, field] of asList(list, [name], ['name'])) {
      for (const [variable, place] of asList(container.env, [...field, 'env'], ['name']))
        if (variable.name === 'NODE_OPTIONS' && isSet(variable.value) && typeof variable.value !== 'string')
          throw new InjectRefusal([...place, 'value'], 'the value of a variable is text: put it into quotes');
      asList(container.volumeMounts, [...field, 'volumeMounts'], ['name', 'mountPath']);
      asList(container.ports, [...field, 'ports'], []);
      asMap(container.securityContext, [...field, 'securityContext']);
    }
  asList(volumes, ['volumes'], ['name']);
  asMap(securityContext, ['securityContext']);
  asMap(nodeSelector, ['nodeSelector']);
  asMap(os, ['os']);
  if (isSet(grace) && typeof grace !== 'number')
    throw new InjectRefusal(['terminationGracePeriodSeconds'], 'a whole number of seconds belongs here');
}
