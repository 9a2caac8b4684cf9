/** Plain text columns: the first and a trailing unnamed one to the left, numbers to the right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((name, i) => Math.max(name.length, ...rows.map((row) => (row[i] as string).length)));
  const left = (i: number): boolean => i === 0 || head[i] === '';
  const line = (cells: readonly string[]): string =>
    `  ${cells
      .map((cell, i) => (left(i) ? cell.padEnd(widths[i] as number) : cell.padStart(widths[i] as number)))
      .join('  ')
      .trimEnd()}\n`;
  return line(head) + rows.map(line).join('');
}
