/** Azure's resources for models, whose keys go in a header of their own, and whose models are deployments with names of the customer's. */

/** Of the public cloud, and those of the United States' government and of China (`azure.us`, `azure.cn`). */
const resourceHost = /^https?:\/\/[^/:?#]+\.(?:openai|cognitiveservices|services\.ai)\.azure\.(?:com|us|cn)(?:[:/?#]|$)/i;

/** Whether an address is one of Azure's own: a relay before it takes the key as it says itself. */
export const isAzure = (baseUrl: string): boolean => resourceHost.test(baseUrl);
