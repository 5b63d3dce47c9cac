/** Azure's resources for models, whose keys go in a header of their own, and whose models are deployments with names of the customer's. */
import { joinUrl } from './join-url.ts';

/** Of the public cloud, and those of the United States' government and of China (`azure.us`, `azure.cn`). */
const resourceHost = /^https?:\/\/[^/:?#]+\.(?:openai|cognitiveservices|services\.ai)\.azure\.(?:com|us|cn)(?:[:/?#]|$)/i;

/** Whether an address is one of Azure's own: a relay before it takes the key as it says itself. */
export const isAzure = (baseUrl: string): boolean => resourceHost.test(baseUrl);

/** The endpoint of a resource, or of a project in it, as Azure's portals show it: nothing answers there. */
const bareEndpoint = /^https?:\/\/[^/?#]+(?:\/api\/projects\/[^/?#]+)?\/*$/i;

/** Where an endpoint has its API; any other address says it itself. `api`: the path's name for it. */
export const azureApi = (baseUrl: string, api: 'openai' | 'anthropic'): string =>
  isAzure(baseUrl) && bareEndpoint.test(baseUrl) ? `${baseUrl.replace(/\/+$/, '')}/${api}` : baseUrl;

/** As `joinUrl`, for the protocols of OpenAI's shape. */
export const openAiUrl = (baseUrl: string, path: string): string => joinUrl(azureApi(baseUrl, 'openai'), 'v1', path);

/** Microsoft Entra's tokens are signed; keys have no dots. */
const signedToken = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/;

/** Whether a key is for Azure a bearer: it refuses an access token in the header for keys. */
export const isAzureToken = (key: string, baseUrl: string): boolean => isAzure(baseUrl) && signedToken.test(key);

/** The credential's header of the protocols of OpenAI's shape. */
export const openAiCredential = (key: string, baseUrl: string): Record<string, string> =>
  isAzure(baseUrl) && !isAzureToken(key, baseUrl) ? { 'api-key': key } : { authorization: `Bearer ${key}` };
