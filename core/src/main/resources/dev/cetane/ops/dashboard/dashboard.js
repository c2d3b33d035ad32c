'use strict';

/** The page: reads the stream of events, shows what they say, and asks for actions. Everything shown is set as text, never as HTML. */
(() => {
  const $ = id => document.getElementById(id);
  const { duration, number, PHASES, NAMES } = Charts;
  const TOKEN = 'cetane-token';
  let instance = null;
  let retry = 1000;

  // ---- elements ----

  function element(name, properties, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(properties || {})) {
      if (key === 'class') made.className = value;
      else if (key === 'on') made.addEventListener('click', value);
      else made.setAttribute(key, value);
    }
    made.append(...children.filter(child => child !== null && child !== undefined));
    return made;
  }

  function text(id, value) {
    if ($(id).textContent !== value) $(id).textContent = value;
  }

  function span(seconds) {
    if (seconds < 10) return seconds.toFixed(1) + ' s';
    if (seconds < 60) return Math.floor(seconds) + ' s';
    if (seconds < 3600) return Math.floor(seconds / 60) + ' m ' + Math.floor(seconds % 60) + ' s';
    if (seconds < 86400) return Math.floor(seconds / 3600) + ' h ' + Math.floor(seconds % 3600 / 60) + ' m';
    return Math.floor(seconds / 86400) + ' d ' + Math.floor(seconds % 86400 / 3600) + ' h';
  }

  function mebibytes(bytes) {
    return bytes > 0 ? (bytes / 1048576).toFixed(1) + ' MiB' : '–';
  }

  function say(message, bad) {
    $('message').hidden = !message;
    $('message').className = bad ? 'bad' : '';
    text('message', message);
  }

  function state(word, kind) {
    text('state', word);
    $('state').className = 'pill ' + kind;
  }

  // ---- the token ----

  function headers() {
    const token = sessionStorage.getItem(TOKEN);
    return token ? { Authorization: 'Bearer ' + token } : {};
  }

  /** Asks for the token; false when the dialog was closed without one. */
  function askForToken(why) {
    return new Promise(resolve => {
      const dialog = $('ask');
      text('ask-why', why);
      $('token').value = '';
      $('ask-cancel').onclick = () => dialog.close();
      $('ask-form').onsubmit = () => { sessionStorage.setItem(TOKEN, $('token').value.trim()); };
      dialog.onclose = () => resolve(dialog.returnValue !== '' || $('token').value !== '');
      if (!dialog.open) dialog.showModal();
    });
  }

  async function act(path, doing) {
    if (!sessionStorage.getItem(TOKEN) && !await askForToken('To ' + doing + ' needs it.')) return;
    say('Asked to ' + doing + ' …');
    try {
      const answer = await fetch(path, { method: 'POST', headers: headers() });
      const words = (await answer.text()).trim();
      if (answer.status === 401) sessionStorage.removeItem(TOKEN);
      say(words, !answer.ok);
    } catch (e) {
      say('The server does not answer: ' + e.message, true);
    }
  }

  // ---- what does not change ----

  function showInstance(config) {
    instance = config;
    const name = config.application.replace(/^.*[/](?=[^/])/, '');
    document.title = 'Cetane · ' + name;
    text('application', config.version + ' · ' + name + ' · ' + config.urls.join(', ') + ' · pid ' + config.pid);
    $('application').title = config.application;
    $('reload').hidden = !config.actions;
    $('configuration').replaceChildren(...config.configuration.map(entry => element('tr', {},
      element('td', { class: 'mono' }, entry.key),
      element('td', { class: 'mono request' }, entry.value),
      element('td', { class: 'small' }, entry.origin))));
  }

  // ---- samples ----

  function showSample(sample) {
    state(sample.ready ? 'ready' : sample.reason, sample.ready ? 'good' : 'bad');
    if (instance) text('uptime', 'up ' + span(Math.max(0, (sample.time - instance.started) / 1000)));
    text('generation', '· generation ' + sample.generation);
    const busy = sample.workers.filter(worker => worker.state === 'busy').length;
    if (sample.seconds > 0) {
      const all = Charts.total(sample);
      const bad = sample.outcomes['5xx'] + sample.outcomes.aborted;
      text('rate', number(all / sample.seconds) + ' /s');
      text('errors', bad > 0 ? number(bad / sample.seconds) + ' /s failed' : 'none failed');
      text('p50', all > 0 ? duration(sample.latency.p50) : '–');
      text('p99', all > 0 ? 'p95 ' + duration(sample.latency.p95) + ', p99 ' + duration(sample.latency.p99) : '');
    }
    const rejected = Object.values(sample.rejections).reduce((sum, count) => sum + count, 0);
    text('queue', String(sample.queued));
    text('rejected', 'of ' + sample.queue_limit + ', ' + number(rejected) + ' rejected');
    text('busy', busy + ' of ' + sample.workers.length);
    text('target', sample.target + ' wanted');
    text('memory', mebibytes(sample.workers.reduce((sum, worker) => sum + worker.memory, 0)));
    text('connections', number(sample.connections) + (sample.connections === 1 ? ' connection' : ' connections'));
    $('boot-failure').hidden = !sample.boot_failure;
    text('boot-failure', sample.boot_failure ? 'The last boot has failed: ' + sample.boot_failure : '');
    const restarts = Object.entries(sample.restarts).map(([reason, count]) => reason.replaceAll('_', ' ') + ' ' + number(count));
    text('restarts', restarts.length ? restarts.join(' · ') : 'none yet');
    showWorkers(sample.workers);
    Charts.add(sample);
  }

  /** Elements stay where they are, so that the focus does too. */
  function showWorkers(workers) {
    const list = $('workers');
    const seen = new Set();
    for (const worker of workers) {
      const id = 'worker-' + worker.id;
      seen.add(id);
      const item = $(id) || list.appendChild(newWorker(id, worker.id));
      item.className = 'worker ' + worker.state;
      const [name, what] = item.querySelectorAll('.head span');
      name.textContent = (worker.role === 'task' ? 'Task worker ' : 'Worker ') + worker.id;
      what.textContent = worker.state + (worker.reason ? ' (' + worker.reason.replaceAll('_', ' ') + ')' : '');
      const doing = item.querySelector('.doing');
      doing.textContent = worker.request ? worker.request + ' for ' + span(worker.state_seconds) : 'for ' + span(worker.state_seconds);
      doing.title = worker.request ? worker.request + ' (' + worker.request_id + ')' : '';
      const [first, second] = item.querySelectorAll('.small');
      first.textContent = number(worker.requests) + ' requests · ' + mebibytes(worker.memory);
      second.textContent = 'age ' + span(worker.age_seconds) + ' · generation ' + worker.generation + ' · pid ' + (worker.pid || '–');
      const recycle = item.querySelector('button');
      recycle.hidden = !(instance && instance.actions) || worker.state === 'retiring';
    }
    for (const item of [...list.children]) {
      if (!seen.has(item.id)) item.remove();
    }
  }

  function newWorker(id, number) {
    return element('li', { id },
      element('div', { class: 'head' }, element('span'), element('span')),
      element('p', { class: 'doing mono' }),
      element('p', { class: 'small' }),
      element('p', { class: 'small' }),
      element('button', { type: 'button', 'aria-label': 'Recycle worker ' + number, on: () => act('/workers/' + number + '/recycle', 'recycle worker ' + number) }, 'Recycle'));
  }

  // ---- lists ----

  function time(millis) {
    return Charts.clock(millis / 1000);
  }

  /** What each list shows, by key. */
  const lists = new Map();

  /** What is still in the list stays where it is, so that what was opened stays open, and the focus where it is. */
  function show(list, entries) {
    const before = lists.get(list) || new Map();
    const now = new Map(entries.map(([key, make]) => [key, before.get(key) || make()]));
    lists.set(list, now);
    const wanted = [...now.values()].flat();
    for (const child of [...list.children]) {
      if (!wanted.includes(child)) child.remove();
    }
    wanted.forEach((child, index) => {
      if (list.children[index] !== child) list.insertBefore(child, list.children[index] || null);
    });
  }

  function showEnds(ends) {
    const first = document.querySelector('#ends details[open]') === null;
    show($('ends'), ends.map((end, index) => [end.worker + '-' + end.time, () => {
      const facts = element('dl', {},
        ...fact('Exit', end.exit), ...fact('Request', end.request), ...fact('Request id', end.request_id), ...fact('PHP says', end.error),
        ...fact('Served', number(end.requests) + ' requests in ' + span(end.age_seconds)), ...fact('Process', String(end.pid)),
        ...fact('Generation', String(end.generation)));
      const details = element('details', { class: 'end' },
        element('summary', {}, time(end.time) + ' · worker ' + end.worker + ' · ' + end.reason.replaceAll('_', ' ') + ' · ' + end.exit
          + (end.request ? ' · ' + end.request : '')),
        facts,
        end.output ? element('pre', { 'aria-label': 'Last lines of output' }, end.output.split(' | ').join('\n')) : null);
      details.open = first && index === 0;
      return [details];
    }]));
  }

  function fact(name, value) {
    return value ? [element('dt', {}, name), element('dd', {}, value)] : [];
  }

  function showSlow(slow) {
    if (slow.length === 0) {
      show($('slow'), [['none', () => [element('tr', {}, element('td', { colspan: '8' }, 'none yet'))]]]);
      return;
    }
    show($('slow'), slow.map(request => [[request.id, request.time, request.total, Boolean(request.stack)].join(), () => slowRows(request)]));
  }

  /** A row for the request, and one below for where PHP was. */
  function slowRows(request) {
    const bar = element('div', { class: 'bar', role: 'img', 'aria-label': PHASES.filter(phase => request.phases[phase]).map(
      phase => NAMES[phase] + ' ' + duration(request.phases[phase])).join(', ') });
    bar.title = bar.getAttribute('aria-label');
    for (const phase of PHASES) {
      const part = element('i', { class: phase });
      part.style.width = 100 * (request.phases[phase] || 0) / Math.max(1, request.total) + '%';
      bar.append(part);
    }
    const rows = [element('tr', request.stack ? { class: 'has-stack' } : {},
      element('td', {}, time(request.time)),
      element('td', { class: 'request' }, element('span', { class: 'mono', title: request.id }, request.request)),
      element('td', {}, request.status ? String(request.status) : 'left'),
      element('td', { class: 'number' }, duration(request.total)),
      element('td', {}, bar),
      element('td', { class: 'number' }, request.cpu ? duration(request.cpu) : '–'),
      element('td', { class: 'number' }, mebibytes(request.peak_memory || 0)),
      element('td', { class: 'number' }, request.worker ? String(request.worker) : '–'))];
    if (request.stack) {
      const [innermost] = request.stack.split('\n', 1);
      rows.push(element('tr', { class: 'stack' }, element('td', { colspan: '8' }, element('details', {},
        element('summary', {}, 'PHP was in ', element('span', { class: 'mono' }, innermost.replace(/^#0 /, ''))),
        element('pre', { tabindex: '0', role: 'region', 'aria-label': 'PHP stack of ' + request.request }, request.stack)))));
    }
    return rows;
  }

  // ---- the stream ----

  const shows = { sample: showSample, slow: showSlow, ends: showEnds };

  /** Read by fetch, which can send the token in a header. */
  async function stream() {
    const config = await fetch('/config', { headers: headers(), cache: 'no-store' });
    if (config.status === 401 || config.status === 403) throw Object.assign(new Error((await config.text()).trim()), { status: config.status });
    showInstance(await config.json());
    const answer = await fetch('/events', { headers: headers(), cache: 'no-store' });
    if (!answer.ok) throw new Error((await answer.text()).trim());
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done) throw new Error('the server has ended the stream');
      retry = 1000;
      const events = (rest + value).split('\n\n');
      rest = events.pop();
      for (const event of events) {
        const [, name, data] = /^event: (\w+)\ndata: (.*)$/s.exec(event) || [];
        if (shows[name]) shows[name](JSON.parse(data));
      }
    }
  }

  async function run() {
    for (;;) {
      try {
        await stream();
      } catch (e) {
        state('disconnected', 'bad');
        if (e.status === 401) {
          sessionStorage.removeItem(TOKEN);
          if (await askForToken('These figures are shown to who has it.')) continue;
        }
        if (e.status) say(e.message, true);
        await new Promise(resolve => setTimeout(resolve, retry));
        retry = Math.min(2 * retry, 15000);
      }
    }
  }

  // ---- light and dark ----

  function theme(name) {
    document.documentElement.dataset.theme = name;
    Charts.restyle();
  }

  const prefersDark = matchMedia('(prefers-color-scheme: dark)');
  theme(localStorage.getItem('cetane-theme') || (prefersDark.matches ? 'dark' : 'light'));
  prefersDark.addEventListener('change', () => {
    if (!localStorage.getItem('cetane-theme')) theme(prefersDark.matches ? 'dark' : 'light');
  });
  $('theme').addEventListener('click', () => {
    const other = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
    localStorage.setItem('cetane-theme', other);
    theme(other);
  });
  $('reload').addEventListener('click', () => act('/reload', 'reload the workers'));
  $('legend').append(...PHASES.map(phase => element('span', { class: 'key' }, element('i', { class: phase }), NAMES[phase])));

  Charts.start();
  run();
})();
