'use strict';

/** The four charts. Each keeps the samples of the last five minutes; colours come from the style sheet. */
const Charts = (() => {
  const MOST = 300;
  const PHASES = ['receive', 'queue', 'boot', 'dispatch', 'first_byte', 'to_end', 'transfer'];
  const NAMES = {
    receive: 'receive', queue: 'queue', boot: 'boot', dispatch: 'dispatch',
    first_byte: 'PHP to first byte', to_end: 'PHP to end', transfer: 'transfer',
  };
  const times = [];
  const charts = [];

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
  }

  function duration(micros) {
    if (micros === null || micros === undefined || Number.isNaN(micros)) return '–';
    if (micros < 1000) return Math.round(micros) + ' µs';
    if (micros < 1e6) return (micros / 1000).toFixed(micros < 1e5 ? 1 : 0) + ' ms';
    return (micros / 1e6).toFixed(1) + ' s';
  }

  function number(value) {
    return value === null || value === undefined ? '–' : value >= 1000 ? Math.round(value).toLocaleString('en') : String(Math.round(value * 10) / 10);
  }

  function clock(seconds) {
    return new Date(seconds * 1000).toLocaleTimeString([], { hour12: false });
  }

  /** series: {label, colour, value(sample)}; stacked ones lie on top of each other. */
  function chart(id, series, text, stacked) {
    charts.push({ element: document.getElementById(id), series, text, stacked, raw: series.map(() => []), plot: null });
  }

  function lines(chart) {
    if (!chart.stacked) return chart.raw;
    const below = new Array(times.length).fill(0);
    return chart.raw.map(values => values.map((value, i) => (value === null ? null : (below[i] += value))));
  }

  function make(chart) {
    const axis = { stroke: colour('quiet'), grid: { stroke: colour('line'), width: 1 }, ticks: { stroke: colour('line'), width: 1 } };
    if (chart.plot) chart.plot.destroy();
    chart.plot = new uPlot({
      width: Math.max(chart.element.clientWidth, 200),
      height: 190,
      cursor: { points: { size: 6 } },
      scales: { x: { range: (u, min, max) => [Math.min(min, max - 30), max] }, y: { range: (u, min, max) => [0, max > 0 ? max * 1.1 : 1] } },
      axes: [{ ...axis, space: 90, values: (u, splits) => splits.map(clock) }, { ...axis, size: 64, values: (u, splits) => splits.map(chart.text) }],
      series: [
        { value: (u, v) => (v === null ? '–' : clock(v)) },
        ...chart.series.map((one, k) => ({
          label: one.label,
          stroke: colour(one.colour),
          width: 1.5,
          fill: chart.stacked && k === 0 ? colour(one.colour) + '99' : undefined,
          points: { show: false },
          value: (u, v, s, i) => chart.text(i === null ? chart.raw[k][times.length - 1] : chart.raw[k][i]),
        })),
      ],
      bands: chart.stacked ? chart.series.slice(1).map((one, k) => ({ series: [k + 2, k + 1], fill: colour(one.colour) + '99' })) : [],
    }, [times, ...lines(chart)], chart.element);
  }

  function draw(chart) {
    if (!chart.plot) make(chart);
    chart.plot.setData([times, ...lines(chart)]);
    const last = times.length - 1;
    chart.element.setAttribute('aria-label', chart.series.map((one, k) => one.label + ' ' + chart.text(chart.raw[k][last])).join(', '));
  }

  function total(sample) {
    return Object.values(sample.outcomes).reduce((sum, count) => sum + count, 0);
  }

  /** Adds what one sample says. */
  function add(sample) {
    if (sample.seconds === 0) return;
    times.push(sample.time / 1000);
    if (times.length > MOST) times.shift();
    for (const chart of charts) {
      chart.series.forEach((one, k) => {
        chart.raw[k].push(one.value(sample));
        if (chart.raw[k].length > MOST) chart.raw[k].shift();
      });
      draw(chart);
    }
  }

  function restyle() {
    charts.filter(chart => chart.plot).forEach(make);
  }

  function start() {
    const rate = names => sample => names.reduce((sum, name) => sum + (sample.outcomes[name] || 0), 0) / sample.seconds;
    const served = (sample, value) => (total(sample) > 0 ? value : null);
    chart('chart-rate', [
      { label: 'answered', colour: 'good', value: rate(['1xx', '2xx', '3xx', '4xx']) },
      { label: '5xx', colour: 'bad', value: rate(['5xx']) },
      { label: 'left or cut', colour: 'wait', value: rate(['abandoned', 'aborted']) },
    ], number, false);
    chart('chart-latency', [
      { label: 'p50', colour: 'good', value: s => served(s, s.latency.p50) },
      { label: 'p95', colour: 'busy', value: s => served(s, s.latency.p95) },
      { label: 'p99', colour: 'bad', value: s => served(s, s.latency.p99) },
    ], duration, false);
    chart('chart-phases', PHASES.map(phase => (
      { label: NAMES[phase], colour: phase.replace('_', '-'), value: s => served(s, s.phases[phase] || 0) }
    )), duration, true);
    chart('chart-queue', [
      { label: 'queue', colour: 'wait', value: s => s.queued },
      { label: 'busy', colour: 'busy', value: s => s.workers.filter(worker => worker.state === 'busy').length },
    ], number, false);
    let pending = 0;
    window.addEventListener('resize', () => {
      clearTimeout(pending);
      pending = setTimeout(restyle, 150);
    });
  }

  return { start, add, restyle, clock, duration, number, total, PHASES, NAMES };
})();
