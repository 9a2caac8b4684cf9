/** A response header that the host's process reports as soon as it has read it; the host knows it by the same name. */
export const MARK_NAME = 'x-lab-mark';
export const MARK = { [MARK_NAME]: 'read' } as const;
