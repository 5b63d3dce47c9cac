/** Languages: English is built in, others load when chosen. Keys live in one file per area and language. */
import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';

export const languages = { en: 'English', zh: '简体中文' } as const;
export type Language = keyof typeof languages;

const place = 'model-gateway.language';
/** `./en/logs.json` is the namespace `logs` in English. */
const files = import.meta.glob<Record<string, unknown>>('./*/*.json', { import: 'default' });
const english = import.meta.glob<Record<string, unknown>>('./en/*.json', { import: 'default', eager: true });

const isLanguage = (value: string | null): value is Language => value !== null && Object.hasOwn(languages, value);

function preferred(): Language {
  const stored = localStorage.getItem(place);
  if (isLanguage(stored)) return stored;
  return navigator.languages.some((language) => language.toLowerCase().startsWith('zh')) && !navigator.language.toLowerCase().startsWith('en') ? 'zh' : 'en';
}

const namespaceOf = (file: string): string => file.slice(file.lastIndexOf('/') + 1, -'.json'.length);

async function load(language: Language): Promise<void> {
  const wanted = Object.entries(files).filter(([file]) => file.startsWith(`./${language}/`));
  await Promise.all(wanted.map(async ([file, read]) => i18next.addResourceBundle(language, namespaceOf(file), await read())));
}

export async function startTranslations(): Promise<void> {
  const language = preferred();
  await i18next.use(initReactI18next).init({
    lng: language,
    fallbackLng: 'en',
    defaultNS: 'common',
    // React escapes; a second escaping would show entities.
    interpolation: { escapeValue: false },
    resources: { en: Object.fromEntries(Object.entries(english).map(([file, value]) => [namespaceOf(file), value])) },
  });
  if (language !== 'en') await load(language);
  document.documentElement.lang = language;
  await i18next.changeLanguage(language);
}

export async function chooseLanguage(language: Language): Promise<void> {
  if (language !== 'en') await load(language);
  localStorage.setItem(place, language);
  document.documentElement.lang = language;
  await i18next.changeLanguage(language);
}
