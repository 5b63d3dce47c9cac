/** The calls by which models are tested: each client protocol's, by operation. */
import type { Operation } from '@model-gateway/contracts';
import { type ClientAdapter, clientProtocols, type Protocol, type TestCall, type TestCallContext } from '@model-gateway/protocols';

/** One kind of test call. */
export interface TestedCall {
  operation: Operation;
  protocol: Protocol & { client: ClientAdapter };
  /** It is about a file of the tester. */
  takesFile: boolean;
  write(test: TestCallContext): TestCall;
}

/** A file that a test is about. */
export interface TestFile {
  name: string;
  contentType: string;
  bytes: Buffer;
}

/** In the order of the registry, the usual operation of each protocol first. */
export const testedCalls: readonly TestedCall[] = clientProtocols.flatMap((protocol) =>
  Object.entries(protocol.client.testCalls ?? {}).map(([operation, write]) => ({
    operation: operation as Operation,
    protocol,
    takesFile: write({ model: '', stream: false, prompt: '', body: null }).fileField !== undefined,
    write,
  })),
);

/** The body of a call as its caller sends it. */
export async function encodeCall({ body, fileField }: TestCall, file: TestFile | null): Promise<{ bytes: Buffer; contentType: string; isForm: boolean }> {
  if (fileField === undefined || !file) return { bytes: Buffer.from(JSON.stringify(body), 'utf8'), contentType: 'application/json', isForm: false };
  const form = new FormData();
  for (const [name, value] of Object.entries(body))
    for (const one of [value].flat()) if (one !== null && one !== undefined) form.append(name, typeof one === 'string' ? one : JSON.stringify(one));
  form.append(fileField, new File([new Uint8Array(file.bytes)], file.name, { type: file.contentType }));
  const sent = new Response(form);
  return { bytes: Buffer.from(await sent.arrayBuffer()), contentType: sent.headers.get('content-type') ?? '', isForm: true };
}
