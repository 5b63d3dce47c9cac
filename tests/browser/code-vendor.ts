/** A vendor whose page sends the browser straight back with a code, and whose token endpoint holds it to PKCE. */
import { createHash } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CodeVendor {
  url: string;
  /** Codes that were exchanged. */
  exchanged: number;
  close(): Promise<void>;
}

interface Asked {
  challenge: string;
  redirect: string;
}

export async function startCodeVendor(): Promise<CodeVendor> {
  const codes = new Map<string, Asked>();
  const send = (response: ServerResponse, status: number, body: object) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const server = createServer((request, response) => {
    void (async () => {
      const url = new URL(request.url ?? '', vendor.url);
      if (url.pathname === '/authorize') {
        const query = url.searchParams;
        const code = `CANARY-code-${codes.size}`;
        codes.set(code, { challenge: query.get('code_challenge') ?? '', redirect: query.get('redirect_uri') ?? '' });
        const back = new URL(query.get('redirect_uri') ?? '');
        for (const [name, value] of Object.entries({ code, state: query.get('state') ?? '', iss: vendor.url })) back.searchParams.set(name, value);
        return response.writeHead(302, { location: back.href }).end();
      }
      let text = '';
      for await (const chunk of request) text += String(chunk);
      const form = new URLSearchParams(text);
      const asked = codes.get(form.get('code') ?? '');
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      if (!asked || asked.challenge !== challenge || asked.redirect !== form.get('redirect_uri')) return send(response, 400, { error: 'invalid_grant' });
      codes.delete(form.get('code') ?? '');
      vendor.exchanged++;
      return send(response, 200, { access_token: 'CANARY-access-of-code', refresh_token: 'CANARY-refresh-of-code', expires_in: 3600, token_type: 'Bearer' });
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const vendor: CodeVendor = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanged: 0,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return vendor;
}
