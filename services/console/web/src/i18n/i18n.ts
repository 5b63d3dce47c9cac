/** Languages: the one in use is loaded, in two files: what the first page shows, and the rest. Keys live in one file per area and language; that each has all of them is tested. */
import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import { type FaultTexts, setFaultTexts } from './fault-texts.ts';
import { firstAreas } from './first-areas.ts';

export const languages = { en: 'English', zh: '简体中文' } as const;
export type Language = keyof typeof languages;

const place = 'model-gateway.language';
/** `./en/logs.json` is the namespace `logs` in English. */
const files = import.meta.glob<Record<string, unknown>>('./*/*.json', { import: 'default' });

const isLanguage = (value: string | null): value is Language => value !== null && Object.hasOwn(languages, value);

function preferred(): Language {
  const stored = localStorage.getItem(place);
  if (isLanguage(stored)) return stored;
  return navigator.languages.some((language) => language.toLowerCase().startsWith('zh')) && !navigator.language.toLowerCase().startsWith('en') ? 'zh' : 'en';
}

const areaOf = (file: string): string => file.slice(file.lastIndexOf('/') + 1, -'.json'.length);

type Part = 'first' | 'more';
let language: Language = 'en';
let wanted: readonly Part[] = ['first'];
const loads = new Map<string, Promise<unknown>>();

/** Each part of a language is loaded once; what failed is tried again. */
function load(part: Part): Promise<unknown> {
  const id = `${language} ${part}`;
  const found = loads.get(id) ?? addTexts(language, part);
  loads.set(id, found);
  found.catch(() => loads.delete(id));
  return found;
}

/** Help of the configuration's fields is written beside their schemas, which the API's document and `docs/gateway-file.md` are made of too. */
const fieldTexts: Record<Language, () => Promise<{ default: object }>> = {
  en: () => import('@model-gateway/contracts/field-texts/en.json'),
  zh: () => import('@model-gateway/contracts/field-texts/zh.json'),
};

/** What the API says is wrong with a field; it speaks English itself. */
const faultTexts: Record<Language, () => Promise<{ default: FaultTexts }>> = {
  en: () => Promise.resolve({ default: {} }),
  zh: () => import('@model-gateway/contracts/fault-texts/zh.json'),
};

const addTexts = (to: Language, part: Part): Promise<unknown> =>
  Promise.all([
    ...(part === 'more' ? [fieldTexts[to]().then((texts) => i18next.addResourceBundle(to, 'fields', texts.default))] : []),
    ...Object.entries(files)
      .filter(([file]) => file.startsWith(`./${to}/`) && firstAreas.includes(areaOf(file)) === (part === 'first'))
      .map(async ([file, read]) => i18next.addResourceBundle(to, areaOf(file), await read())),
  ]);

/** The texts of all other pages: loaded before the first of them is shown. */
export function loadAllTexts(): Promise<unknown> {
  wanted = ['first', 'more'];
  return Promise.all([load('more'), loadFaultTexts()]);
}

async function loadFaultTexts(): Promise<void> {
  const of = language;
  const texts = await faultTexts[of]();
  if (of === language) setFaultTexts(texts.default);
}

async function change(to: Language): Promise<void> {
  language = to;
  await Promise.all([...wanted.map(load), ...(wanted.includes('more') ? [loadFaultTexts()] : [])]);
  document.documentElement.lang = to;
  await i18next.changeLanguage(to);
}

export async function startTranslations(): Promise<void> {
  language = preferred();
  await i18next.use(initReactI18next).init({
    lng: language,
    fallbackLng: false,
    defaultNS: 'common',
    // React escapes; a second escaping would show entities.
    interpolation: { escapeValue: false },
    resources: {},
  });
  await change(language);
}

export async function chooseLanguage(chosen: Language): Promise<void> {
  await change(chosen);
  localStorage.setItem(place, chosen);
}
