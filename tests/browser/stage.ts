/** What most suites in a browser stand on: a browser, a gateway with the console's newest build, an upstream to play with, and an administrator at the screen. */
import type { Browser, Page } from 'playwright-core';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { buildConsole, launchBrowser, type Visitor, visit } from './browser.ts';

export interface Stage {
  browser: Browser;
  gateway: TestGateway;
  upstream: FakeUpstream;
  admin: Visitor;
  page: Page;
  /** A chat call with the gateway's own key (or another); gives the request's id once its row is kept. */
  ask(model: string, more?: { key?: string; headers?: Record<string, string>; body?: Record<string, unknown> }): Promise<string>;
  close(): Promise<void>;
}

export async function openStage({ env = {} }: { env?: Record<string, string> } = {}): Promise<Stage> {
  buildConsole();
  const [browser, gateway, upstream] = await Promise.all([launchBrowser(), startGateway({ arrangement: 'embedded', env }), startFakeUpstream()]);
  const admin = await visit(browser, { url: gateway.url, token: gateway.consoleKey });
  return {
    browser,
    gateway,
    upstream,
    admin,
    page: admin.page,
    async ask(model, { key = gateway.key, headers = {}, body = {} } = {}) {
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }], ...body }),
      });
      await answer.text();
      const id = answer.headers.get('x-request-id') ?? '';
      await gateway.row(id);
      return id;
    },
    async close() {
      await browser.close();
      await Promise.all([gateway.stop(), upstream.close()]);
    },
  };
}
