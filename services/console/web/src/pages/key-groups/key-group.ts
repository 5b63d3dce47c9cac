/** A key group as the API gives it, and as the form holds it. */
import type { ResourceState } from '@model-gateway/console/answers';
import type { HeaderRule, McpToolAcl, OnBreak, StoreBodies } from '@model-gateway/contracts';
import { type BudgetForm, budgetBody, budgetForm, type KeyLimitForm, keyLimitBody, keyLimitForm } from '../../components/limit-fields.tsx';

/** A key group, as the API returns it. */
export interface KeyGroup {
  name: string;
  /** How it stands; absent right after a change. */
  state?: ResourceState;
  models: string[];
  header_acl: HeaderRule[];
  rate_limit?: unknown;
  budget?: unknown;
  strict_translation?: boolean;
  passthrough?: 'on' | 'off';
  server_tools?: 'on' | 'off';
  store_bodies?: StoreBodies | null;
  mcp_tool_acl?: McpToolAcl;
  on_break?: OnBreak | null;
  enabled: boolean;
  description: string;
}

interface RuleForm {
  header: string;
  match: HeaderRule['match'];
  value: string;
  action: HeaderRule['action'];
}

interface StoreBodiesForm {
  enabled: boolean;
  /** In KiB. Empty: the default. */
  kib: number | '';
  ttl_hours: number | '';
}

/** A key group, as the form holds it. */
export interface GroupForm extends Record<string, unknown> {
  name: string;
  models: string[];
  header_acl: RuleForm[];
  rate_limit: KeyLimitForm;
  budget: BudgetForm;
  strict_translation: boolean;
  passthrough: boolean;
  server_tools: boolean;
  store_bodies: StoreBodiesForm;
  mcp_tool_acl: McpToolAcl;
  /** Empty: what the upstream says. */
  on_break: string;
  enabled: boolean;
  description: string;
}

const noTools: McpToolAcl = { allowed_tools: [], denied_tools: [], allowed_tags: [] };

const storesNothing: StoreBodiesForm = { enabled: false, kib: 64, ttl_hours: 24 };

export const emptyGroup: GroupForm = {
  name: '',
  models: [],
  header_acl: [],
  rate_limit: keyLimitForm(undefined),
  budget: budgetForm(undefined),
  strict_translation: false,
  passthrough: true,
  server_tools: false,
  store_bodies: storesNothing,
  mcp_tool_acl: noTools,
  on_break: '',
  enabled: true,
  description: '',
};

export const toForm = (group: KeyGroup): GroupForm => ({
  name: group.name,
  models: group.models,
  header_acl: group.header_acl.map((rule) => ({ ...rule, value: rule.value ?? '' })),
  rate_limit: keyLimitForm(group.rate_limit),
  budget: budgetForm(group.budget),
  strict_translation: group.strict_translation ?? false,
  passthrough: group.passthrough !== 'off',
  server_tools: group.server_tools === 'on',
  store_bodies: group.store_bodies
    ? { enabled: group.store_bodies.enabled, kib: group.store_bodies.max_bytes / 1024, ttl_hours: group.store_bodies.ttl_hours }
    : storesNothing,
  mcp_tool_acl: group.mcp_tool_acl ?? noTools,
  on_break: group.on_break ?? '',
  enabled: group.enabled,
  description: group.description,
});

/** Those that look only whether a header is there have no value. */
export const headerRules = (rules: readonly RuleForm[]): HeaderRule[] =>
  rules.map(({ value, ...rule }) => ({ ...rule, ...(rule.match !== 'exists' && rule.match !== 'absent' && { value }) }));

const storeBodiesBody = ({ enabled, kib, ttl_hours }: StoreBodiesForm) =>
  enabled ? { enabled, ...(kib !== '' && { max_bytes: Math.round(kib * 1024) }), ...(ttl_hours !== '' && { ttl_hours }) } : null;

export const toBody = (form: GroupForm) => ({
  ...form,
  name: form.name.trim(),
  header_acl: headerRules(form.header_acl),
  rate_limit: keyLimitBody(form.rate_limit),
  budget: budgetBody(form.budget),
  passthrough: form.passthrough ? 'on' : 'off',
  server_tools: form.server_tools ? 'on' : 'off',
  store_bodies: storeBodiesBody(form.store_bodies),
  on_break: form.on_break || null,
});
