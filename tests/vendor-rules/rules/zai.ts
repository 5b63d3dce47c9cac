/** Chat completions of Z.ai (GLM) and of MiniMax. */
import { isGiven, objectOf, textOf } from '../read.ts';
import type { Vendor, VendorRule } from '../rule.ts';
import { bad, hello, messagesOf } from './kit.ts';

type Row = Omit<VendorRule, 'protocol' | 'vendors'> & { by: Vendor; modelId: string };

const rows: Row[] = [
  {
    by: 'zai',
    modelId: 'glm-5.3',
    id: 'alpha.zai.effort',
    models: /^glm-5\.3/,
    what: 'Efforts other than low, high and max, and thinking switched off, at GLM-5.3',
    source: 'https://github.com/charmbracelet/catwalk/pull/603',
    date: '2026-09-16',
    check({ body }) {
      const effort = body['reasoning_effort'];
      const isTaken = !isGiven(effort) || ['low', 'high', 'max'].includes(textOf(effort));
      return isTaken && objectOf(body['thinking'])['type'] !== 'disabled'
        ? null
        : bad('This model always engages in thinking and cannot be disabled; please use low, high, or max.', { code: '1210' });
    },
    refused: [
      { body: { messages: hello, reasoning_effort: 'medium' } },
      { modelId: 'glm-5.3-flash', body: { messages: hello, thinking: { type: 'disabled' } } },
    ],
    accepted: [
      { body: { messages: hello, reasoning_effort: 'max', thinking: { type: 'enabled' } } },
      { modelId: 'glm-4.7', body: { messages: hello, thinking: { type: 'disabled' } } },
    ],
  },
  {
    by: 'minimax',
    modelId: 'MiniMax-M2.7',
    id: 'alpha.minimax.system',
    what: 'More than one system message, and one after the beginning',
    source: 'https://github.com/can1357/oh-my-pi/pull/954',
    date: '2026-05-07',
    check: ({ body }) =>
      messagesOf(body).some(({ role }, at) => at > 0 && role === 'system')
        ? bad('invalid params, invalid chat setting (2013)', { type: 'bad_request_error' })
        : null,
    refused: [
      { body: { messages: [{ role: 'system', content: 'short' }, { role: 'system', content: 'OS: darwin' }, ...hello] } },
      { body: { messages: [...hello, { role: 'system', content: 'short' }] } },
    ],
    accepted: [{ body: { messages: [{ role: 'system', content: 'short' }, ...hello] } }],
  },
];

export const zaiRules: VendorRule[] = rows.map(({ by, modelId, ...row }) => ({
  ...row,
  protocol: 'alpha',
  vendors: [by],
  refused: row.refused.map((example) => ({ modelId, ...example })),
  accepted: row.accepted.map((example) => ({ modelId, ...example })),
}));
