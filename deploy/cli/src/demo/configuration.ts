/** What the demo is configured with: priced models, three teams with budgets, and one upstream that fails. The file that an operator would apply. */
import type { clientProtocols } from '@model-gateway/protocols';

/** The model that the printed requests ask for. */
export const demoModel = 'demo';
/** Path below the demo's upstream at which every call fails. */
export const failingPath = '/failing';

/** What the agents of one person do. */
export interface DemoAgent {
  accessKey: string;
  model: string;
  /** Share of the requests. */
  weight: number;
}

/** `preview` has no price and `best` begins with an entry that fails: the overview has something to say of either. */
export const demoAgents: readonly DemoAgent[] = [
  { accessKey: 'ada', model: 'best', weight: 3 },
  { accessKey: 'grace', model: 'large', weight: 3 },
  { accessKey: 'linus', model: 'small', weight: 2 },
  { accessKey: 'ci-robot', model: 'small', weight: 2 },
  { accessKey: 'sam', model: 'large', weight: 1 },
  { accessKey: 'kim', model: 'preview', weight: 1 },
];

const price = (model: string, input: string, output: string, cacheRead: string) => ({ model, input, output, cache_read: cacheRead });

/** As `import` takes it. */
export const demoConfiguration = (protocol: (typeof clientProtocols)[number]['id'], url: string) => ({
  version: 2,
  upstreams: [
    { name: 'demo-upstream', protocol, base_url: url, api_keys: [] },
    { name: 'demo-failing', protocol, base_url: `${url}${failingPath}`, api_keys: [] },
  ],
  models: [
    { name: demoModel, upstream: 'demo-upstream', upstream_model_id: demoModel },
    { name: 'large', upstream: 'demo-upstream', upstream_model_id: 'demo-large' },
    { name: 'small', upstream: 'demo-upstream', upstream_model_id: 'demo-small' },
    { name: 'preview', upstream: 'demo-upstream', upstream_model_id: 'demo-preview' },
    { name: 'large-elsewhere', upstream: 'demo-failing', upstream_model_id: 'demo-large', hide_name: true, aliases: ['large-2'] },
  ],
  pricing: [price(demoModel, '1.00', '5.00', '0.10'), price('large*', '3.00', '15.00', '0.30'), price('small', '0.25', '1.25', '0.025')],
  load_balancers: [{ name: 'best', strategy: 'priority', entries: [{ model: 'large-elsewhere' }, { model: 'large' }] }],
  key_groups: [
    { name: 'demo', models: ['*'], description: 'For the requests that the demo prints' },
    { name: 'research', models: ['*'], budget: { limit: '200.00', period: 'month' }, description: 'A team of the demo' },
    { name: 'product', models: ['small', 'preview'], budget: { limit: '50.00', period: 'month' }, description: 'A team of the demo' },
    {
      name: 'interns',
      models: ['large', 'small', 'preview'],
      budget: { limit: '0.20', period: 'day' },
      description: 'A team of the demo, soon at the end of its budget',
    },
  ],
  access_keys: [
    { name: 'demo', group: 'demo' },
    { name: 'ada', group: 'research', tags: ['project-apollo'] },
    { name: 'grace', group: 'research', tags: ['project-gemini'] },
    { name: 'linus', group: 'product', tags: ['website'] },
    { name: 'ci-robot', group: 'product', tags: ['ci'] },
    { name: 'sam', group: 'interns' },
    { name: 'kim', group: 'interns' },
  ],
});
