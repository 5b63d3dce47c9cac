/** Exceptions of the cloud, as errors over HTTP and inside streams, and whose fault each is. */
import { describe, expect, test } from '@jest/globals';
import { readError } from './errors.ts';
import { createReader } from './read-response.ts';

const over = (status: number, type: string, message = 'words') => readError(status, { 'x-amzn-errortype': type }, JSON.stringify({ message }));

describe('over HTTP', () => {
  test.each([
    [429, 'ThrottlingException', 'words', 'rate'],
    [429, 'ModelNotReadyException', 'words', 'overloaded'],
    [503, 'ServiceUnavailableException:http://internal', 'words', 'overloaded'],
    [500, 'InternalServerException', 'words', 'server'],
    [424, 'ModelErrorException', 'words', 'server'],
    [408, 'ModelTimeoutException', 'words', 'timeout'],
    [400, 'ServiceQuotaExceededException', 'words', 'account'],
    [403, 'AccessDeniedException', "You don't have access to the model with the specified model ID.", 'account'],
    [403, 'AccessDeniedException', 'User is not authorized', 'credential'],
    [403, 'ExpiredTokenException', 'words', 'credential'],
    [403, 'com.amazon.coral.service#UnrecognizedClientException', 'words', 'credential'],
    [404, 'ResourceNotFoundException', 'words', 'not-found'],
    [400, 'ValidationException', 'Malformed input request', 'caller'],
    [400, 'ValidationException', 'Input is too long for requested model.', 'context'],
    [400, 'ValidationException', 'The provided model identifier is invalid.', 'not-found'],
    // https://github.com/terricain/aioboto3/issues/352
    [
      400,
      'ValidationException',
      'Invocation of model ID anthropic.claude-x with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model.',
      'not-found',
    ],
    // https://github.com/kirodotdev/Kiro/issues/11191, https://github.com/aws-samples/amazon-bedrock-audio-summarizer/issues/3
    [400, 'ValidationException', 'Operation not allowed', 'account'],
    [400, 'ValidationException', 'Your account is not authorized to invoke this API operation.', 'account'],
    [418, '', 'words', 'caller'],
    [599, '', 'words', 'server'],
  ])('%i %s: %s', (status, type, message, kind) => expect(over(status, type, message)).toMatchObject({ class: kind, status }));

  test('a clock that is wrong is said to be', () => {
    const fault = over(403, 'InvalidSignatureException', 'Signature expired: 20260101T000000Z is now earlier than 20260101T010000Z');
    expect(fault).toMatchObject({ class: 'server', code: 'clock_skew', message: expect.stringContaining('clock') });
    expect(over(403, 'InvalidSignatureException', 'The request signature we calculated does not match').class).toBe('credential');
  });

  test('odd bodies', () => {
    expect(readError(400, {}, '{"__type":"ThrottlingException","Message":"slow"}')).toMatchObject({ class: 'rate', message: 'slow' });
    expect(readError(502, {}, '<html>').message).toBe('The upstream reported an error.');
    expect(readError(429, { 'retry-after': '3' }, '').retryAfterMs).toBe(3000);
    expect(readError(400, {}, 'x'.repeat(100_000)).message.length).toBeLessThan(2100);
  });
});

test.each([
  ['throttlingException', 'rate'],
  ['modelStreamErrorException', 'server'],
  ['serviceUnavailableException', 'overloaded'],
  ['validationException', 'caller'],
  ['modelTimeoutException', 'timeout'],
  ['somethingNewException', 'server'],
])('%s inside a stream', (event, kind) => {
  const reader = createReader();
  reader.read({ event: 'messageStart', data: '', json: { role: 'assistant' } });
  const events = reader.read({ event, data: '', json: { message: 'm', originalStatusCode: 424 }, failure: 'exception' });
  expect(events).toEqual([{ type: 'error', error: expect.objectContaining({ class: kind, status: 424, message: 'm' }) }]);
  expect([reader.read({ event: 'messageStop', data: '', json: { stopReason: 'end_turn' } }), reader.finish()]).toEqual([[], []]);
});
