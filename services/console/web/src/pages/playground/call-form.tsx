/** The question of a call that is no conversation: the fields that it uses, its file, send and stop. */
import { Button, FileInput, Group, NumberInput, Stack, Textarea, TextInput } from '@mantine/core';
import type { PlaygroundCall, PlaygroundField, PlaygroundInput } from '@model-gateway/protocols/playground';
import { IconPlayerStop, IconSend } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useKept } from '../../components/use-kept.ts';

export type Question = Omit<PlaygroundInput, 'model'>;

interface Props {
  call: PlaygroundCall;
  busy: boolean;
  /** Why nothing can be sent; null when it can. */
  obstacle: string | null;
  onSend: (question: Question, file: File | null) => void;
  onStop: () => void;
}

const emptyQuestion: Question = { text: '', documents: [], voice: '', size: '', language: '', dimensions: null };
/** What a test call takes beside its other fields. */
const maxFileBytes = 10 * 1024 * 1024;
/** The lines that hold something. */
export const lines = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '');

export function CallForm({ call, busy, obstacle, onSend, onStop }: Props) {
  const { t } = useTranslation('playground');
  const [question, setQuestion] = useKept(`playground ${call.operation}`, emptyQuestion);
  const [documents, setDocuments] = useKept(`playground ${call.operation} documents`, '');
  const [file, setFile] = useKept<File | null>(`playground ${call.operation} file`, null);
  const change = (changed: Partial<Question>) => setQuestion((known) => ({ ...known, ...changed }));
  const uses = (field: PlaygroundField): boolean => call.fields.includes(field);
  const isTooLarge = file !== null && file.size > maxFileBytes;
  const lacksText = (uses('text') || uses('texts')) && question.text.trim() === '';
  const lacksDocuments = uses('documents') && lines(documents).length === 0;
  const ready = !busy && obstacle === null && !lacksText && !lacksDocuments && (!call.file || (file !== null && !isTooLarge));
  return (
    <Stack gap="sm">
      {call.file && (
        <FileInput
          label={t(`files.${call.file.field}`)}
          placeholder={t('chooseFile')}
          accept={call.file.accept}
          clearable
          value={file}
          onChange={setFile}
          error={isTooLarge && t('fileTooLarge')}
        />
      )}
      {(uses('text') || uses('texts')) && (
        <Textarea
          label={t(`questions.${call.operation}`)}
          description={uses('texts') && t('aLineEach')}
          autosize
          minRows={2}
          maxRows={10}
          value={question.text}
          onChange={(event) => change({ text: event.currentTarget.value })}
        />
      )}
      {uses('documents') && (
        <Textarea
          label={t('documents')}
          description={t('aLineEach')}
          autosize
          minRows={3}
          maxRows={12}
          value={documents}
          onChange={(event) => setDocuments(event.currentTarget.value)}
        />
      )}
      <Group grow>
        {uses('size') && <Option label={t('size')} placeholder={t('modelsOwn')} value={question.size} onChange={(size) => change({ size })} />}
        {uses('voice') && <Option label={t('voice')} placeholder="alloy" value={question.voice} onChange={(voice) => change({ voice })} />}
        {uses('language') && (
          <Option label={t('language')} placeholder={t('modelsOwn')} value={question.language} onChange={(language) => change({ language })} />
        )}
        {uses('dimensions') && (
          <NumberInput
            label={t('dimensions')}
            placeholder={t('modelsOwn')}
            min={1}
            allowDecimal={false}
            value={question.dimensions ?? ''}
            onChange={(dimensions) => change({ dimensions: Number(dimensions) || null })}
          />
        )}
      </Group>
      <Group justify="flex-end" align="center">
        {obstacle && (
          <Group c="red" fz="sm">
            {obstacle}
          </Group>
        )}
        {busy ? (
          <Button color="red" variant="light" leftSection={<IconPlayerStop size={16} aria-hidden />} onClick={onStop}>
            {t('stop')}
          </Button>
        ) : (
          <Button
            leftSection={<IconSend size={16} aria-hidden />}
            disabled={!ready}
            onClick={() => onSend({ ...question, documents: lines(documents) }, call.file ? file : null)}
          >
            {t('send')}
          </Button>
        )}
      </Group>
    </Stack>
  );
}

function Option({ label, placeholder, value, onChange }: { label: string; placeholder: string; value: string; onChange: (value: string) => void }) {
  return <TextInput label={label} placeholder={placeholder} value={value} onChange={(event) => onChange(event.currentTarget.value)} />;
}
