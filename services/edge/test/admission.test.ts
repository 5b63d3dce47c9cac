/** Capacity, the caller's address, and the headers that may go further in. */
import { describe, expect, test } from '@jest/globals';
import { MemoryState } from '@model-gateway/distributed-state';
import { noPressure, type PressureLevel, takenAnyway } from '@model-gateway/service-runtime';
import { Capacity, type Slot } from '../src/admission/capacity.ts';
import { createClientAddress } from '../src/admission/client-address.ts';
import { RateLimits } from '../src/admission/rate-limits.ts';
import { innerHeaders } from '../src/admission/request-headers.ts';
import { fakeRequest } from './fake-request.ts';

describe('capacity', () => {
  const enter = (capacity: Capacity) => capacity.enter() as Slot;

  test('requests above the cap are refused at once, and a released slot is free again', () => {
    const capacity = new Capacity(2, 1, new MemoryState(), noPressure);
    const first = enter(capacity);
    capacity.enter();
    expect(() => capacity.enter()).toThrow(expect.objectContaining({ code: 'overloaded', status: 503 }));
    first.release();
    first.release();
    expect(capacity.requests.used).toBe(1);
    capacity.enter();
    expect(() => capacity.enter()).toThrow(expect.objectContaining({ code: 'overloaded' }));
  });

  test('streams have a cap of their own; a refused stream still holds and gives back its request slot', () => {
    const capacity = new Capacity(10, 1, new MemoryState(), noPressure);
    const stream = enter(capacity);
    stream.asStream();
    const second = enter(capacity);
    expect(() => second.asStream()).toThrow(expect.objectContaining({ code: 'too_many_streams', status: 503 }));
    second.release();
    expect([capacity.requests.used, capacity.streams.used]).toEqual([1, 1]);
    stream.release();
    expect([capacity.requests.used, capacity.streams.used]).toEqual([0, 0]);
  });
});

describe('under pressure', () => {
  const pressed = (level: PressureLevel) => ({ level, stop: () => undefined });

  test('new streams are refused before requests are, and the first few are let in', () => {
    const pressure = pressed(2) as { level: PressureLevel; stop(): undefined };
    const capacity = new Capacity(20, 20, new MemoryState(), pressure);
    const few = Array.from({ length: takenAnyway }, () => capacity.enter() as Slot);
    for (const slot of few) slot.asStream();
    const second = capacity.enter() as Slot;
    expect(() => second.asStream()).toThrow(expect.objectContaining({ code: 'too_many_streams', status: 503, message: 'The gateway is short of memory.' }));
    second.release();
    pressure.level = 3;
    expect(() => capacity.enter()).toThrow(expect.objectContaining({ code: 'overloaded', status: 503 }));
    expect([capacity.requests.used, capacity.streams.used]).toEqual([takenAnyway, takenAnyway]);
    few.pop()?.release();
    const another = capacity.enter() as Slot;
    another.asStream();
    for (const slot of [...few, another]) slot.release();
    pressure.level = 1;
    for (let at = 0; at < 3; at++) (capacity.enter() as Slot).asStream();
    expect([capacity.requests.used, capacity.streams.used]).toEqual([3, 3]);
  });
});

describe('client address', () => {
  const from = (trusted: string[], peer: string, forwarded?: string): string | null =>
    createClientAddress(trusted)(fakeRequest(forwarded === undefined ? [] : [['x-forwarded-for', forwarded]], peer));

  test.each([
    ['nobody is trusted: the peer', [], '203.0.113.9', '1.1.1.1', '203.0.113.9'],
    ['the peer is no proxy: its header is not believed', ['10.0.0.0/8'], '203.0.113.9', '1.1.1.1', '203.0.113.9'],
    ['one proxy', ['10.0.0.0/8'], '10.1.2.3', '1.1.1.1', '1.1.1.1'],
    ['several proxies: the right-most hop that is none', ['10.0.0.0/8'], '10.1.2.3', '6.6.6.6, 1.1.1.1, 10.9.9.9', '1.1.1.1'],
    ['all hops are proxies: the farthest', ['10.0.0.0/8'], '10.1.2.3', '10.0.0.1, 10.0.0.2', '10.0.0.1'],
    ['no header from the proxy: the proxy', ['10.0.0.0/8'], '10.1.2.3', undefined, '10.1.2.3'],
    ['a hop with its port', ['10.0.0.0/8'], '10.1.2.3', '1.1.1.1:40123, 10.0.0.2:80', '1.1.1.1'],
    ['an IPv6 hop in brackets, with its port', ['10.0.0.0/8'], '10.1.2.3', '[2001:db8::1]:443', '2001:db8::1'],
    ['an IPv6 hop', ['10.0.0.0/8'], '10.1.2.3', '2001:db8::1', '2001:db8::1'],
    ['rubbish ends the chain', ['10.0.0.0/8'], '10.1.2.3', '1.1.1.1, unknown, 10.0.0.7', '10.0.0.7'],
    ['IPv4 mapped into IPv6', ['10.0.0.0/8'], '::ffff:10.1.2.3', '::ffff:1.1.1.1', '1.1.1.1'],
    ['IPv6 proxies', ['2001:db8::/32'], '2001:db8::1', '2606:4700::1111', '2606:4700::1111'],
    ['one address without a prefix length', ['192.0.2.1'], '192.0.2.1', '1.1.1.1', '1.1.1.1'],
    ['its neighbour is not it', ['192.0.2.1'], '192.0.2.2', '1.1.1.1', '192.0.2.2'],
  ] as [string, string[], string, string | undefined, string][])('%s', (_what, trusted, peer, forwarded, expected) => {
    expect(from(trusted, peer, forwarded)).toBe(expected);
  });
});

describe('inner headers', () => {
  const inner = (...headers: [string, string][]) => innerHeaders(fakeRequest(headers));

  test('lower case, and what the protocols need stays', () => {
    expect(inner(['User-Agent', 'a/1'], ['Anthropic-Beta', 'x'], ['X-Session', 's'], ['Accept', '*/*'])).toEqual({
      'user-agent': 'a/1',
      'anthropic-beta': 'x',
      'x-session': 's',
      accept: '*/*',
    });
  });

  test('no credential goes further in', () => {
    expect(
      inner(
        ['Authorization', 'Bearer x'],
        ['x-api-key', 'x'],
        ['x-goog-api-key', 'x'],
        ['x-gamma-api-key', 'x'],
        ['Cookie', 'x'],
        ['Proxy-Authorization', 'x'],
      ),
    ).toEqual({});
  });

  test('nothing hop-by-hop, and nothing that Connection names', () => {
    expect(
      inner(
        ['Host', 'h'],
        ['Content-Length', '3'],
        ['TE', 'trailers'],
        ['Keep-Alive', '1'],
        ['Upgrade', 'h2c'],
        ['Connection', 'X-Mine, upgrade'],
        ['X-Mine', '1'],
        ['X-Other', '2'],
      ),
    ).toEqual({ 'x-other': '2' });
    expect(inner(['Connection', 'X-Mine'], ['X-Mine', '1'])).toEqual({});
    expect(inner(['Connection', 'keep-alive'], ['X-Mine', '1'])).toEqual({ 'x-mine': '1' });
  });

  test('no name under which proxies or this gateway speak', () => {
    expect(
      inner(
        ['X-GW-Trust', '1'],
        ['x-forwarded-for', '1'],
        ['X-Forwarded-Proto', 'https'],
        ['Forwarded', 'for=1'],
        ['X-Real-IP', '1'],
        ['x_gw_trust', '1'],
        ['__proto__', '1'],
      ),
    ).toEqual({});
  });

  test('values too long to be meant are left out', () => {
    expect(inner(['x-long', 'a'.repeat(8193)], ['x-fits', 'a'.repeat(8192)])).toEqual({ 'x-fits': 'a'.repeat(8192) });
  });
});

test('limits of addresses count a /64 of IPv6 as one, as connections do, and IPv4 by its address however it is written', () => {
  const limits = new RateLimits({ rateLimitRpm: null, rateLimitWindowSecs: null, ipRateLimitRpm: 1 }, new MemoryState());
  const refused = (address: string): boolean => {
    try {
      void limits.admitAddress(address);
      return false;
    } catch (error) {
      // Without a Retry-After header, the message has to say how long to wait.
      const message = expect.stringMatching(/^Too many requests from this address \(1 requests per 60s\)\. Retry after \d+s$/);
      expect(error).toMatchObject({ code: 'rate_limited', status: 429, message });
      return true;
    }
  };
  expect(['2001:db8:0:1::1', '2001:db8:0:1:ffff::2', '2001:DB8:0:1:0:0:0:3', '2001:db8:0:2::1'].map(refused)).toEqual([false, true, true, false]);
  expect(['192.0.2.1', '::ffff:192.0.2.1', '192.0.2.2'].map(refused)).toEqual([false, true, false]);
});
