import { GatewayError } from '@model-gateway/contracts/errors';
import type { Target, UpstreamAdapter } from '../contract/index.ts';
import { joinUrl } from '../kit/join-url.ts';
import { passedCall, withQuery } from '../kit/passed-call.ts';
import { asString, own } from '../kit/read.ts';
import { splitModel } from './raw-path.ts';
import { modelPrefix } from './routes.ts';

/** A path of the gateway's that begins with a version, which an upstream's address may hold already. */
const versioned = /^\/(v\d+[a-z0-9]*)(\/.*)$/i;
/** The model in the path of Gemini's callers. */
const modelInPath = /^(\/v\d+[a-z0-9]*\/models\/)(.+)(:[A-Za-z]+)$/;

/** A call on a path of ours goes to the same path of the upstream; one below `/v3` to what follows the model's name. */
export const request: UpstreamAdapter['request'] = (context) =>
  context.operation === 'passthrough' ? callBelow(context) : passedCall(withQuery(samePath(context), context.clientQuery), callOf(context));

type CallContext = Parameters<UpstreamAdapter['request']>[0];

const callOf = ({ clientMethod, clientHeaders }: CallContext): Parameters<typeof passedCall>[1] => ({
  method: clientMethod,
  headers: clientHeaders,
});

function samePath({ target, clientPath = '' }: CallContext): string {
  if (target.directPath) return target.baseUrl;
  const path = clientPath.replace(modelInPath, (_all, before: string, _model, verb: string) => before + encodeURIComponent(target.upstreamModelId) + verb);
  const parts = versioned.exec(path);
  return parts ? joinUrl(target.baseUrl, parts[1]!, parts[2]!) : `${target.baseUrl.replace(/\/+$/, '')}${path}`;
}

/** What follows `/v3/{model}`, behind the upstream's address. An address that is a whole endpoint takes no path but its own end. */
export function callBelow(context: CallContext): ReturnType<UpstreamAdapter['request']> {
  const { target, clientPath = '', clientQuery } = context;
  const rest = splitModel(clientPath.slice(modelPrefix.length))?.rest ?? '';
  return passedCall(withQuery(below(target, rest), clientQuery), callOf(context));
}

function below({ baseUrl, directPath }: Target, rest: string): string {
  const [address = '', query] = baseUrl.split('?', 2);
  if (directPath) {
    if (rest === '' || address.endsWith(`/${rest}`)) return baseUrl;
    throw new GatewayError('invalid_request', { message: 'The address of this model is a whole endpoint: no path can follow it.', param: 'model' });
  }
  const url = rest === '' ? address : `${address.replace(/\/+$/, '')}/${rest}`;
  return query === undefined ? url : withQuery(url, query);
}

const headerName = /^[a-z0-9-]{1,64}$/;

/** Bearer, unless `extra_config.auth` names another header for the key, or `none`. */
export function credential(key: string, { extraConfig }: Target): Record<string, string> {
  const auth = asString(own(extraConfig, 'auth'))?.toLowerCase() ?? 'bearer';
  if (auth === 'none') return {};
  return auth === 'bearer' || !headerName.test(auth) ? { authorization: `Bearer ${key}` } : { [auth]: key };
}
