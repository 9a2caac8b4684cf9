/** Output formats of `check`, for the command line: the renderers are loaded only when the command runs. */
export const CHECK_FORMATS = ['text', 'junit', 'sarif'] as const;
export type CheckFormat = (typeof CHECK_FORMATS)[number];
