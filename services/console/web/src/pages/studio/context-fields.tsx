/** The fields of the context, by the names they have in the script. */
import { NumberInput, SimpleGrid, Stack, Switch, TextInput } from '@mantine/core';
import type { ScriptSlot } from '@model-gateway/contracts';
import { useTranslation } from 'react-i18next';
import { useProtocols } from '../../api/use-protocols.ts';
import { CodeEditor } from '../../components/code-editor.tsx';
import { ProtocolSelect } from '../../components/protocol.tsx';
import { type ContextForm, jsonFields, wordFields } from './script-context.ts';

interface Props {
  slot: ScriptSlot;
  value: ContextForm;
  onChange: (change: Partial<ContextForm>) => void;
  faulty: readonly string[];
}

export function ContextFields({ slot, value, onChange, faulty }: Props) {
  const { t } = useTranslation('studio');
  const protocols = useProtocols();
  const cols = { base: 1, xs: 2, lg: 3 };
  return (
    <Stack gap="sm">
      <SimpleGrid cols={cols} spacing="sm">
        {wordFields.map((field) => (
          <TextInput key={field} label={field} value={value[field]} onChange={(event) => onChange({ [field]: event.currentTarget.value })} />
        ))}
        {(['sourceProtocol', 'targetProtocol'] as const).map((field) => (
          <ProtocolSelect
            key={field}
            label={field}
            allowDeselect={false}
            protocols={protocols.includes(value[field]) ? protocols : [value[field], ...protocols]}
            value={value[field]}
            onChange={(chosen) => chosen && onChange({ [field]: chosen })}
          />
        ))}
        {slot === 'response_transform' &&
          (['responseStatus', 'elapsedMs'] as const).map((field) => (
            <NumberInput
              key={field}
              label={field}
              allowDecimal={false}
              min={0}
              value={value[field]}
              onChange={(typed) => onChange({ [field]: Number(typed) || 0 })}
            />
          ))}
      </SimpleGrid>
      <Switch label="stream" checked={value.stream} onChange={(event) => onChange({ stream: event.currentTarget.checked })} />
      <SimpleGrid cols={cols} spacing="sm">
        {jsonFields(slot).map((field) => (
          <CodeEditor
            key={field}
            language="json"
            label={field}
            minHeight="80px"
            maxHeight="200px"
            value={value[field]}
            onChange={(text) => onChange({ [field]: text })}
            error={faulty.includes(field) ? t('notTexts') : undefined}
          />
        ))}
      </SimpleGrid>
    </Stack>
  );
}
