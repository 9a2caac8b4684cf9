/** MSW's own interceptor of fetch, which lets every request pass. */
const { FetchInterceptor } = require('@mswjs/interceptors/fetch');

globalThis.neighbour = 0;
const interceptor = new FetchInterceptor();
interceptor.apply();
interceptor.on('request', () => {
  globalThis.neighbour++;
});
