/** Colours and language of the console in this browser. */
import { Card, Select, Stack, Text, useMantineColorScheme } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Page } from '../../components/page.tsx';
import { chooseLanguage, type Language, languages } from '../../i18n/i18n.ts';

const schemes = ['auto', 'light', 'dark'] as const;

export function AppearancePage() {
  const { t, i18n } = useTranslation('appearance');
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Page title={t('title')} hint={t('hint')}>
      <Card withBorder maw={480}>
        <Stack>
          <Select
            label={t('colours')}
            allowDeselect={false}
            data={schemes.map((value) => ({ value, label: t(`schemes.${value}`) }))}
            value={colorScheme}
            onChange={(value) => value && setColorScheme(value as (typeof schemes)[number])}
          />
          <Select
            label={t('language')}
            allowDeselect={false}
            data={Object.entries(languages).map(([value, label]) => ({ value, label }))}
            value={i18n.language}
            onChange={(value) => value && void chooseLanguage(value as Language)}
          />
          <Text size="sm" c="dimmed">
            {t('keptHere')}
          </Text>
        </Stack>
      </Card>
    </Page>
  );
}
