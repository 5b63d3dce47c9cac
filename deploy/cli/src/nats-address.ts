/** NATS addresses with credentials in them (`nats://token@host`, `nats://user:password@host`) as the library wants them: apart. */

export interface NatsAddress {
  url: string;
  options: { token?: string; user?: string; pass?: string };
}

/** The first address that carries credentials gives them to all. */
export function splitNatsUrls(urls: readonly string[]): NatsAddress {
  let options: NatsAddress['options'] = {};
  const plain = urls.map((text) => {
    const url = new URL(text);
    if (url.username !== '' && options.token === undefined && options.user === undefined) {
      const user = decodeURIComponent(url.username);
      options = url.password === '' ? { token: user } : { user, pass: decodeURIComponent(url.password) };
    }
    url.username = '';
    url.password = '';
    return url.toString().replace(/\/$/, '');
  });
  return { url: plain.join(','), options };
}
