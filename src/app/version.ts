/** The version that build.mjs wrote into the bundle; tests run from source. */
declare const __TAILFIN_VERSION__: string | undefined;

export const VERSION: string = typeof __TAILFIN_VERSION__ === 'string' ? __TAILFIN_VERSION__ : '0.0.0-source';
