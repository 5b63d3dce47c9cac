/** A vendor that knows its callers by their certificate alone, as strict as the real one: nobody without one that it trusts is answered at all, and its tokens are taken on such connections alone. */
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type Certificate, makeCertificate } from '../../../packages/upstream-client/test/certificates.ts';

const token = 'CANARY-of-a-certificate';
const refusal = { error: { message: 'Incorrect token.', type: 'invalid_request_error', param: null, code: 'invalid_api_key' } };
const completion = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

export interface CertificateVendor {
  url: string;
  server: Certificate;
  /** The one that it trusts. */
  client: Certificate;
  /** Who asked, and what. */
  asked: { subject: string | undefined; body: unknown }[];
  /** Calls of its models: who made the connection, and the token that came with it. */
  calls: { subject: string | undefined; authorization: string | undefined }[];
  close(): Promise<void>;
}

export async function startCertificateVendor(): Promise<CertificateVendor> {
  const [server, client] = await Promise.all([makeCertificate('mtls.test'), makeCertificate('workload.test')]);
  const asked: CertificateVendor['asked'] = [];
  const calls: CertificateVendor['calls'] = [];
  const endpoint = createServer({ ...server, requestCert: true, rejectUnauthorized: true, ca: client.cert }, async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const subject = (request.socket as TLSSocket).getPeerCertificate().subject.CN?.toString();
    if (request.url === '/v1/chat/completions') {
      const { authorization } = request.headers;
      calls.push({ subject, authorization });
      const isTaken = authorization === `Bearer ${token}`;
      return void response.writeHead(isTaken ? 200 : 401, { 'content-type': 'application/json' }).end(JSON.stringify(isTaken ? completion : refusal));
    }
    asked.push({ subject, body: JSON.parse(text) });
    const issued = { token_type: 'Bearer', issued_token_type: 'urn:ietf:params:oauth:token-type:access_token', expires_in: 900 };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ access_token: token, ...issued }));
  });
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${(endpoint.address() as AddressInfo).port}/oauth/token`,
    server,
    client,
    asked,
    calls,
    async close() {
      endpoint.closeAllConnections();
      await new Promise((resolve) => endpoint.close(resolve));
    },
  };
}

/** Settings of a credential that asks it. */
export const certificateSettings = ({ url, server, client }: CertificateVendor) => ({
  source: 'client_certificate',
  identity_provider_id: 'idp_1',
  service_account_id: 'sa_1',
  client_cert: client.cert,
  client_key: client.key,
  ca: server.cert,
  mtls_token_url: url,
});
