/** `fetch` for libraries that take one: the guarded dialer, https only except on this machine, no redirects, small answers. */
import type { SendToken } from '../../token-http.ts';

export type TokenFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

const withoutBody: ReadonlySet<number> = new Set([101, 204, 205, 304]);

export function createTokenFetch(send: SendToken): TokenFetch {
  return async (input, init) => {
    const request = new Request(input, { ...init, redirect: 'manual' });
    const body = Buffer.from(await request.arrayBuffer());
    const { status, headers, bytes } = await send({
      method: request.method,
      url: request.url,
      headers: Object.fromEntries(request.headers),
      body: body.length > 0 ? body : undefined,
    });
    // Unpacked already.
    const { 'content-encoding': _packed, 'content-length': _length, ...rest } = headers;
    return new Response(withoutBody.has(status) ? null : new Uint8Array(bytes), { status, headers: rest });
  };
}
