import { chromium } from 'playwright-core';
const [user, pass, what = ''] = process.argv.slice(2);
const b = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
const c = await b.newContext(); c.setDefaultTimeout(30000);
const p = await c.newPage();
p.on('console', (m) => m.type() === 'error' && console.log('CONSOLE', m.text().slice(0, 200)));
p.on('pageerror', (e) => console.log('PAGEERROR', e.message));
p.on('framenavigated', (f) => f === p.mainFrame() && console.log('NAV', f.url().slice(0, 140)));
await p.goto('http://127.0.0.1:17890/console/');
await p.getByRole('link', { name: /Corp|Dex/ }).or(p.getByRole('button', { name: /Corp|Dex/ })).first().click();
await p.waitForLoadState('load');
if (await p.locator('#username').count()) { await p.fill('#username', user); await p.fill('#password', pass); await p.locator('#kc-login').click(); }
else if (await p.locator('#login').count()) { await p.fill('#login', user); await p.fill('#password', pass); await p.locator('#submit-login').click(); await p.waitForTimeout(500); const g = p.getByRole('button', { name: 'Grant Access' }); if (await g.count()) await g.first().click(); }
else console.log('NO LOGIN FORM', p.url().slice(0,120), (await p.locator('body').innerText()).slice(0, 300));
await p.waitForURL(/17890\/console/, { timeout: 20000 }).catch((e) => console.log('STAYED', p.url()));
await p.waitForTimeout(2500);
console.log('AT', p.url()); console.log((await p.locator('body').innerText()).slice(0, 400));
const token = await p.evaluate(() => localStorage.getItem('model-gateway.token'));
console.log('ME', await (await fetch('http://127.0.0.1:17890/console/api/me', { headers: { authorization: `Bearer ${token}` } })).text());
if (what === 'out') {
  await p.goto('http://127.0.0.1:17890/console/'); await p.waitForTimeout(1000);
  await p.getByRole('button', { name: /sign out/i }).or(p.getByRole('link', { name: /sign out/i })).or(p.getByText(/sign out/i)).first().click().catch(async (e) => { console.log('noout', e.message.slice(0, 200)); });
  await p.waitForTimeout(1500); console.log('OUT', p.url(), (await p.locator('body').innerText()).slice(0, 200));
  await p.getByRole('link', { name: /Corp|Dex/ }).or(p.getByRole('button', { name: /Corp|Dex/ })).first().click(); await p.waitForTimeout(3000); console.log('AGAIN', p.url(), (await p.locator('body').innerText()).slice(0, 200));
}
if (process.env.SHOT) await p.screenshot({ path: process.env.SHOT });
await b.close();
