/** Where the next message is written: words and images, send and stop. */
import { ActionIcon, Box, Button, Group, Textarea, Tooltip } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { PlaygroundImage } from '@model-gateway/protocols/playground';
import { IconPhoto, IconPlayerStop, IconSend, IconTrash, IconX } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { FileChoice } from '../../components/file-choice.tsx';
import { useKept } from '../../components/use-kept.ts';

interface Props {
  /** Initial value of the field. */
  draft: string;
  busy: boolean;
  /** Why nothing can be sent; null when it can. */
  obstacle: string | null;
  onSend: (text: string, images: readonly PlaygroundImage[]) => void;
  onStop: () => void;
  onClear: () => void;
}

const maxImageBytes = 8 * 1024 * 1024;

export function Composer({ draft, busy, obstacle, onSend, onStop, onClear }: Props) {
  const { t } = useTranslation('playground');
  const [text, setText] = useKept('playground message', draft);
  const [images, setImages] = useKept<readonly PlaygroundImage[]>('playground images', []);
  const ready = !busy && obstacle === null && (text.trim() !== '' || images.length > 0);
  const send = () => {
    if (!ready) return;
    onSend(text, images);
    setText('');
    setImages([]);
  };
  const attach = async (files: File[]) => {
    const fitting = files.filter(({ size }) => size <= maxImageBytes);
    if (fitting.length < files.length) notifications.show({ message: t('imageTooLarge'), color: 'red' });
    const read = await Promise.all(fitting.map(readImage));
    setImages((known) => [...known, ...read]);
  };
  return (
    <div>
      {images.length > 0 && (
        <Group gap="xs" mb="xs">
          {images.map((image) => (
            <Box key={image.base64.slice(0, 64)} pos="relative">
              <img src={`data:${image.mediaType};base64,${image.base64}`} alt={t('image')} height={56} style={{ borderRadius: 6 }} />
              <ActionIcon
                pos="absolute"
                top={-6}
                right={-6}
                size="xs"
                radius="xl"
                variant="filled"
                color="gray"
                aria-label={t('removeImage')}
                onClick={() => setImages((known) => known.filter((one) => one !== image))}
              >
                <IconX size={12} aria-hidden />
              </ActionIcon>
            </Box>
          ))}
        </Group>
      )}
      <Textarea
        aria-label={t('message')}
        placeholder={t('messagePlaceholder')}
        autosize
        minRows={2}
        maxRows={10}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          // Enter that ends the choice of a character does not send.
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          send();
        }}
        error={obstacle}
      />
      <Group justify="space-between" mt="xs">
        <Group gap={4}>
          <FileChoice onChange={attach} accept="image/png,image/jpeg,image/webp,image/gif" multiple>
            {(props) => (
              <Tooltip label={t('attach')}>
                <ActionIcon {...props} size="lg" color="gray" aria-label={t('attach')}>
                  <IconPhoto size={20} stroke={1.6} aria-hidden />
                </ActionIcon>
              </Tooltip>
            )}
          </FileChoice>
          <Tooltip label={t('clear')}>
            <ActionIcon size="lg" color="gray" aria-label={t('clear')} onClick={onClear}>
              <IconTrash size={20} stroke={1.6} aria-hidden />
            </ActionIcon>
          </Tooltip>
        </Group>
        {busy ? (
          <Button color="red" variant="light" leftSection={<IconPlayerStop size={16} aria-hidden />} onClick={onStop}>
            {t('stop')}
          </Button>
        ) : (
          <Button leftSection={<IconSend size={16} aria-hidden />} disabled={!ready} onClick={send}>
            {t('send')}
          </Button>
        )}
      </Group>
    </div>
  );
}

const readImage = (file: File): Promise<PlaygroundImage> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve({ mediaType: file.type, base64: String(reader.result).split(',')[1] ?? '' });
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
