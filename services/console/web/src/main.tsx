/** The entry: providers around the router. */
import './app/library-styles.ts';
import './app/app.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.tsx';
import { keepFocus } from './components/keep-focus.ts';
import { startTranslations } from './i18n/i18n.ts';

const root = document.getElementById('root');
if (!root) throw new Error('the page has no #root');
await startTranslations();
keepFocus();
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
