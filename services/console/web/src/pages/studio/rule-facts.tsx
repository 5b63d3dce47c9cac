/** What the variables in rules are filled in with while they are tried. */
import { SimpleGrid, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { CodeEditor } from '../../components/code-editor.tsx';
import { readObject } from './body-text.ts';

/** Their names in the API are their labels. */
const wordFields = ['request_id', 'request_access_key_name', 'request_access_key_group', 'system_prompt', 'upstream_model_id'] as const;

export interface RuleFactsForm extends Record<(typeof wordFields)[number], string> {
  /** A JSON object, typed. */
  headers: string;
}

export const firstFacts: RuleFactsForm = {
  request_id: 'req-1',
  request_access_key_name: 'team-a',
  request_access_key_group: 'trial',
  system_prompt: '',
  upstream_model_id: '',
  headers: '{\n  "x-team": "research"\n}',
};

export const areTexts = ({ headers }: RuleFactsForm): boolean =>
  Object.values(readObject(headers) ?? { wrong: null }).every((value) => typeof value === 'string');
export const factsBody = ({ headers, ...words }: RuleFactsForm) => ({ ...words, headers: readObject(headers) });

export function RuleFacts({ value, onChange }: { value: RuleFactsForm; onChange: (change: Partial<RuleFactsForm>) => void }) {
  const { t } = useTranslation('studio');
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2, lg: 3 }} spacing="sm" mb="sm">
        {wordFields.map((field) => (
          <TextInput key={field} label={field} value={value[field]} onChange={(event) => onChange({ [field]: event.currentTarget.value })} />
        ))}
      </SimpleGrid>
      <CodeEditor
        language="json"
        label="headers"
        minHeight="80px"
        maxHeight="200px"
        value={value.headers}
        onChange={(headers) => onChange({ headers })}
        error={areTexts(value) ? undefined : t('notTexts')}
      />
    </>
  );
}
