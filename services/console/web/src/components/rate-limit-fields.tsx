/** Rate limit of an upstream or a model, as fields of a form. */
import { NumberInput, SimpleGrid } from '@mantine/core';
import { useTranslation } from 'react-i18next';

const limits = ['rpm', 'max_concurrency', 'tpm', 'tps_min_interval_ms'] as const;
const manners = ['wait_timeout_secs', 'initial_tokens'] as const;
type Name = (typeof limits)[number] | (typeof manners)[number];

/** Empty: not limited, or the default. */
export type RateLimitForm = Record<Name, number | ''>;

export const emptyRateLimit: RateLimitForm = { rpm: '', max_concurrency: '', tpm: '', tps_min_interval_ms: '', wait_timeout_secs: '', initial_tokens: '' };

/** `inherit` and nothing look the same: no number. */
export function rateLimitForm(stored: unknown): RateLimitForm {
  if (typeof stored !== 'object' || stored === null) return emptyRateLimit;
  const known = stored as Partial<Record<Name, number | null>>;
  return Object.fromEntries([...limits, ...manners].map((name) => [name, known[name] ?? ''])) as RateLimitForm;
}

/** `none`: what stands for no limit at all. */
export function rateLimitBody(form: RateLimitForm, none: 'inherit' | null): unknown {
  if (limits.every((name) => form[name] === '')) return none;
  return Object.fromEntries(Object.entries(form).filter(([, value]) => value !== ''));
}

const suffixes: Partial<Record<Name, string>> = { tps_min_interval_ms: ' ms', wait_timeout_secs: ' s', initial_tokens: ' %' };
const placeholders: Partial<Record<Name, string>> = { wait_timeout_secs: '10 s', initial_tokens: '100 %' };

export function RateLimitFields({ form, field }: { form: { getInputProps: (path: never) => object }; field: string }) {
  const { t } = useTranslation('limits');
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      {[...limits, ...manners].map((name) => (
        <NumberInput
          key={name}
          label={t(`gate.${name}`)}
          description={t(`fields:rate_limit.${name}`)}
          placeholder={placeholders[name] ?? t('none')}
          suffix={suffixes[name] ?? ''}
          min={name === 'wait_timeout_secs' || name === 'initial_tokens' ? 0 : 1}
          {...(name === 'initial_tokens' && { max: 100 })}
          allowDecimal={false}
          {...form.getInputProps(`${field}.${name}` as never)}
        />
      ))}
    </SimpleGrid>
  );
}
