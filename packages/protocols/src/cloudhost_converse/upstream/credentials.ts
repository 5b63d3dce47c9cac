/** Kinds of keys of this cloud: an access key pair that signs each request (SigV4), or a bearer key. */
import type { RequestSigning } from '@model-gateway/contracts';
import type { Target } from '../../contract/index.ts';
import { asString, own } from '../../kit/read.ts';

/** `ACCESS_KEY_ID:SECRET_ACCESS_KEY[:SESSION_TOKEN]`; a bearer key never holds a colon. */
const pair = /^(\w{1,128}):([^\s:]{1,1024})(?::(\S{1,16384}))?$/;
/** The region as hosts name it: `bedrock-runtime.us-east-1.amazonaws.com`, `vpce-1.bedrock-runtime.eu-west-1.vpce.amazonaws.com`. */
const regionInHost = /(?:^|\.)([a-z]{2,4}(?:-[a-z]{1,12}){1,3}-\d{1,2})\./;

/** null: the key is a bearer key. */
export function signing(key: string, target: Target): RequestSigning | null {
  const [, accessKeyId, secretAccessKey, sessionToken] = pair.exec(key) ?? [];
  if (accessKeyId === undefined || secretAccessKey === undefined) return null;
  return {
    scheme: 'sigv4',
    service: 'bedrock',
    region: regionOf(target),
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== undefined && { sessionToken }),
  };
}

export const credential = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

export const regionOf = (target: Target): string =>
  asString(own(target.extraConfig, 'region')) ?? regionInHost.exec(hostOf(target.baseUrl))?.[1] ?? 'us-east-1';

const hostOf = (url: string): string => /^https?:\/\/([^/:?#]+)/i.exec(url)?.[1]?.toLowerCase() ?? '';
