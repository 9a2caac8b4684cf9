/** Accepted lines by source and type: once per line, so the cell of the line before is looked at first. */
import type { EventType } from '../model/fields.ts';
import type { Cell, Cells } from './cells.ts';

export function createEventCounter(cells: Cells): (source: string, type: EventType) => void {
  const byType = new Map<string, Cell>();
  let latest: Cell | undefined;
  return (source, type) => {
    let cell = latest;
    // One source and mostly one type at a time.
    if (cell === undefined || cell.values[1] !== type || cell.values[0] !== source) {
      cell = byType.get(type);
      if (cell === undefined || cell.values[0] !== source) {
        cell = cells.cell('events', [source, type]) ?? undefined;
        if (cell === undefined) {
          cells.add('events', 1, [source, type]);
          return;
        }
        byType.set(type, cell);
      }
      latest = cell;
    }
    cell.value++;
  };
}
