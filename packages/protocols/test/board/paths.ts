/** Which paths of calls that are no conversation are served by which upstreams, as the registry says. */
import { isUnary, type Operation } from '@model-gateway/contracts';
import {
  type ClientAdapter,
  clientProtocols,
  type Protocol,
  type Target,
  type UnaryExchanges,
  type UpstreamAdapter,
  upstreamProtocols,
} from '../../src/index.ts';

/** What follows a path that is a prefix. */
const restsOf = (path: string): readonly string[] => {
  if (!path.endsWith('/')) return [''];
  if (path.endsWith('/models/')) return ['{model}:embedContent', '{model}:batchEmbedContents', '{model}:predict'];
  return path === '/v3/' ? ['{model}/{rest}'] : ['{rest}'];
};

interface ServedPath {
  path: string;
  client: Protocol & { client: ClientAdapter };
  operation: Operation;
}

/** Each path once for an operation and protocol, in the order of the registry. */
function pathsOf(protocol: Protocol & { client: ClientAdapter }): ServedPath[] {
  return protocol.client.routes.flatMap(({ path, methods, match }) =>
    restsOf(path).flatMap((rest) => {
      const operation = match(rest, new URLSearchParams(), {}, methods[0])?.operation as Operation | undefined;
      return operation !== undefined && isUnary(operation) ? [{ path: path + rest, client: protocol, operation }] : [];
    }),
  );
}

/** Hosts whose models' names say what they do. */
const modelsByName: Readonly<Record<string, Partial<Record<Operation, string>>>> = {
  cloudhost_invoke: { embed: 'amazon.titan-embed-text-v2:0', rerank: 'cohere.rerank-v3-5:0' },
};

const target = (protocol: string, operation: Operation, kind: string | null): Target => ({
  baseUrl: 'https://upstream',
  directPath: false,
  upstreamModelId: modelsByName[protocol]?.[operation] ?? 'model',
  neutralHeaders: false,
  extraConfig: null,
  kind,
});

/** How models of one kind serve it; undefined: not at all. */
function servedBy({ client, operation }: ServedPath, upstream: Protocol & { upstream: UpstreamAdapter }, kind: string | null): string | undefined {
  // Calls in the upstream's own terms have no translation: any upstream is called by its address, and one protocol has services of its own.
  if (operation === 'passthrough') return 'as it is';
  const { serves, passesVerbatim, unary } = upstream.upstream;
  const goal = target(upstream.id, operation, kind);
  if (!serves?.(goal).includes(operation)) return undefined;
  if (operation === 'native') return 'as it is';
  if (passesVerbatim?.(client.id, goal, operation) ?? client.id === upstream.id) return 'as it is';
  const key = operation as keyof UnaryExchanges;
  return client.client.unary?.[key] && unary?.[key] ? 'translated' : undefined;
}

function cellOf(path: ServedPath, upstream: Protocol & { upstream: UpstreamAdapter }): string {
  const usual = servedBy(path, upstream, null);
  if (usual) return usual;
  const kinds = (upstream.upstream.kinds ?? []).filter((kind) => servedBy(path, upstream, kind));
  return kinds.length === 0 ? '–' : `${servedBy(path, upstream, kinds[0]!)} (${kinds.map((kind) => `\`${kind}\``).join(', ')})`;
}

/** The section of the page. */
export function writePaths(): string {
  const paths = clientProtocols.flatMap(pathsOf);
  const serving = upstreamProtocols.filter((upstream) => paths.some((path) => cellOf(path, upstream) !== '–'));
  const rows = paths.map((path) => `| \`${path.path}\` | ${serving.map((upstream) => cellOf(path, upstream)).join(' | ')} |`);
  return `## Calls that are no conversation

_As it is_: both sides speak one protocol, and of the request the model's name alone changes. _Translated_: what the upstream has no field for is
declared. In brackets the \`kind\` that a model needs. –: 400 \`unsupported_operation\`, which names the paths that the model is served on.

| path | ${serving.map(({ id }) => id).join(' | ')} |
| --- | ${serving.map(() => '---').join(' | ')} |
${rows.join('\n')}
`;
}
