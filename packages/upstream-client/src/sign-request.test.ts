/** Signatures: the published derivation, worked out here by hand, gives the same; the clock comes from outside. */
import { createHash, createHmac } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { signRequest } from './sign-request.ts';

const signing = { scheme: 'sigv4', service: 'bedrock', region: 'us-east-1', accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalr/secret' } as const;
const url = 'https://host.test:8443/model/a%3Ab/converse?b=2&a=1%20x';
const headers = { 'content-type': 'application/json' };
const body = Buffer.from('{"é":1}');
const at = new Date('2026-01-02T03:04:05.678Z');

const sha = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest();

test('is the published derivation, with the path encoded once more', async () => {
  const signed = await signRequest(signing, { method: 'POST', url, headers, body }, at);
  const names = 'content-type;host;x-amz-content-sha256;x-amz-date';
  const canonical = [
    'POST',
    '/model/a%253Ab/converse',
    'a=1%20x&b=2',
    'content-type:application/json',
    'host:host.test:8443',
    `x-amz-content-sha256:${sha(body)}`,
    'x-amz-date:20260102T030405Z',
    '',
    names,
    sha(body),
  ].join('\n');
  const key = ['20260102', 'us-east-1', 'bedrock', 'aws4_request'].reduce<string | Buffer>((last, part) => hmac(last, part), 'AWS4wJalr/secret');
  const signature = hmac(key, ['AWS4-HMAC-SHA256', '20260102T030405Z', '20260102/us-east-1/bedrock/aws4_request', sha(canonical)].join('\n')).toString('hex');
  expect(signed).toEqual({
    authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/us-east-1/bedrock/aws4_request, SignedHeaders=${names}, Signature=${signature}`,
    'x-amz-content-sha256': sha(body),
    'x-amz-date': '20260102T030405Z',
  });
});

test('temporary credentials carry their token, signed too; a request without a body is signed as empty', async () => {
  const signed = await signRequest({ ...signing, sessionToken: 'tok/en==' }, { method: 'GET', url: 'https://host.test/', headers: {}, body: undefined }, at);
  expect(signed['x-amz-security-token']).toBe('tok/en==');
  expect(signed['authorization']).toContain('x-amz-security-token');
  expect(signed['x-amz-content-sha256']).toBe(sha(''));
  expect(JSON.stringify(signed)).not.toContain('wJalr');
});
