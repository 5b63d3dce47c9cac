/** `@anthropic-ai/claude-agent-sdk`: Claude Code as a library, with its own tools. It keeps its sessions itself. */
import { query } from '@anthropic-ai/claude-agent-sdk';
import { key, maxTurns, model, url, work } from './agent-kit.mjs';

let goesOn = process.env.AGENT_RESUME === '1';
await work(async (words) => {
  let result = '';
  const options = {
    model,
    maxTurns,
    continue: goesOn,
    permissionMode: 'bypassPermissions',
    allowDangerouslySkipPermissions: true,
    includePartialMessages: true,
    env: {
      ...process.env,
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: key,
      ANTHROPIC_SMALL_FAST_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      // It refuses to work without questions as root, unless told that nothing of worth is around.
      IS_SANDBOX: '1',
    },
  };
  goesOn = true;
  for await (const message of query({ prompt: words, options })) if (message.type === 'result') result = message.result ?? message.subtype;
  return result;
});
