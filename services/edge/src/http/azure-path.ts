/** Paths of clients that are made for Azure OpenAI: they name a deployment in the path, or a version of the API in the query. */

/** What such a path means here. */
export interface AzurePath {
  /** The same call's path of other clients. */
  path: string;
  /** The deployment, which is a model's name here; absent: the body names the model. */
  model?: string;
}

/** Below the client's endpoint, or below a base address that ends in `/v1`. */
const deploymentCall = /^\/(?:openai|v1)\/deployments\/([^/]+)(\/.+)$/;
const versionedCall = /^\/openai(?:\/v1)?(\/.+)$/;

/** null: the path is none of theirs. `path` is still percent-encoded and has no query. */
export function readAzurePath(path: string, query: URLSearchParams): AzurePath | null {
  const [, deployment, call] = deploymentCall.exec(path) ?? [];
  if (deployment !== undefined) {
    const model = decode(deployment);
    return model === null ? null : { path: `/v1${call}`, model };
  }
  const [, below] = (query.has('api-version') && versionedCall.exec(path)) || [];
  return below === undefined ? null : { path: `/v1${below}` };
}

/** Paths of realtime sessions: the older one has `api-version` and `deployment` in its query, the newer one `model`. */
export const azureSessionPath = (path: string): string => path.replace(/^\/openai(?:\/v1)?(?=\/realtime$)/, '/v1');

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    // A stray `%` names no model: the path is unknown, which is a 404 and no defect.
    return null;
  }
}
