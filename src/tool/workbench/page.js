// SPDX-License-Identifier: MIT
// The workbench of kymo explain --html: marks what belongs together. The page has all texts; here only attributes change.
'use strict';
(() => {
  const panes = ['hex', 'tree', 'source'].map(id => document.getElementById(id)).filter(pane => pane);
  const state = document.getElementById('state');
  const ITEMS = '[role=option], [role=treeitem]';
  const items = pane => [...pane.querySelectorAll(ITEMS)];
  const ids = element => (element.dataset.f || '').split(' ').filter(id => id);
  const lineOf = element => element.dataset.line && element.dataset.line !== '0' ? element.dataset.line : null;

  // ---- what belongs together ----

  const byId = new Map(), byLine = new Map(), nodes = new Map();
  const add = (map, key, element) => { map.has(key) ? map.get(key).push(element) : map.set(key, [element]); };
  for (const pane of panes)
    for (const element of items(pane)) {
      for (const id of ids(element)) {
        add(byId, id, element);
        if (pane.id === 'tree')
          nodes.set(id, element);
      }
      if (pane.id !== 'hex' && lineOf(element))
        add(byLine, lineOf(element), element);
    }

  /** The elements that belong to one: those of its fields, their lines, all fields of a line; of a record its line. */
  function related(element) {
    const all = new Set([element]);
    const ofId = id => { for (const other of byId.get(id) || []) all.add(other); };
    const isLine = element.closest('#source') !== null;
    const of = isLine ? (byLine.get(lineOf(element)) || []) : ids(element).map(id => nodes.get(id)).filter(node => node);
    for (const node of [element, ...of]) {
      ids(node).forEach(ofId);
      if (isLine)
        all.add(node);
      const line = lineOf(node);
      for (const other of line && !isLine ? byLine.get(line) || [] : [])
        if (other.closest('#source'))
          all.add(other);
    }
    return all;
  }

  const textOf = element => {
    const node = element.querySelector(':scope > .node');
    return (node || element).textContent.replace(/\s+/g, ' ').trim();
  };

  /** What a screen reader hears: the first field, and the number of the others. */
  function say(all) {
    const fields = [...all].filter(element => element.closest('#tree')), lines = [...all].filter(element => element.closest('#source'));
    const more = fields.length > 1 ? `, and ${fields.length - 1} more` : '';
    state.textContent = fields.length ? `${textOf(fields[0])}${more}` : lines.length ? `Line ${lines[0].dataset.line}: no field here comes from it` : 'These bytes are in no field';
  }

  // ---- marks ----

  let marked = new Set();
  function mark(element) {
    for (const old of marked)
      old.setAttribute('aria-selected', 'false');
    for (const old of document.querySelectorAll('.record.marked'))
      old.classList.remove('marked');
    marked = related(element);
    for (const each of marked) {
      each.setAttribute('aria-selected', 'true');
      for (let up = each.closest('#tree') && each.parentElement.closest('li'); up; up = up.parentElement.closest('li'))
        up.setAttribute('aria-expanded', 'true');
    }
    if (element.dataset.r)
      document.querySelector(`.record[data-r="${element.dataset.r}"]`).classList.add('marked');
    for (const pane of panes)
      if (!pane.contains(element))
        show(pane, element);
    say(marked);
  }

  /** Brings the first marked element of another pane into sight. */
  function show(pane, element) {
    const first = [...marked].find(each => pane.contains(each)) || (element.dataset.r && pane.querySelector(`.record[data-r="${element.dataset.r}"]`));
    if (first)
      (first.querySelector(':scope > .node') || first).scrollIntoView({block: 'nearest'});
  }

  // ---- focus: each pane is one stop of the key Tab ----

  const stops = new Map();
  function stop(pane, element) {
    if (stops.has(pane))
      stops.get(pane).tabIndex = -1;
    stops.set(pane, element);
    element.tabIndex = 0;
  }
  for (const pane of panes)
    if (items(pane).length)
      stop(pane, items(pane)[0]);

  function go(element) {
    const pane = panes.find(each => each.contains(element));
    stop(pane, element);
    element.focus();
    mark(element);
  }

  const isSeen = element => element.getClientRects().length > 0;
  function step(pane, element, by) {
    const all = items(pane).filter(isSeen), at = all.indexOf(element);
    return all[Math.min(all.length - 1, Math.max(0, at + by))];
  }

  /** The place where Enter goes: from bytes to their field, from a field to its line, from a line to its next field. */
  let turn = 0;
  function across(pane, element) {
    if (pane.id === 'hex')
      return ids(element).map(id => nodes.get(id)).find(node => node);
    if (pane.id === 'tree')
      return (byLine.get(lineOf(element)) || []).find(other => other.closest('#source'));
    const fields = (byLine.get(lineOf(element)) || []).filter(other => other.closest('#tree'));
    return fields[turn++ % fields.length];
  }

  /** Left and right in the tree: close and open, or to the parent and the first child. */
  function turnNode(node, isOpening) {
    const is = node.getAttribute('aria-expanded');
    if (is === String(!isOpening)) {
      node.setAttribute('aria-expanded', String(isOpening));
      return node;
    }
    return isOpening ? node.querySelector('li') || node : node.parentElement.closest('li') || node;
  }

  function target(pane, element, key) {
    switch (key) {
    case 'ArrowDown': return step(pane, element, 1);
    case 'ArrowUp': return step(pane, element, -1);
    case 'ArrowRight': return pane.id === 'tree' ? turnNode(element, true) : step(pane, element, 1);
    case 'ArrowLeft': return pane.id === 'tree' ? turnNode(element, false) : step(pane, element, -1);
    case 'Home': return step(pane, element, -Infinity);
    case 'End': return step(pane, element, Infinity);
    case 'Enter': return across(pane, element) || element;
    default: return null;
    }
  }

  for (const pane of panes) {
    pane.addEventListener('click', event => {
      const element = event.target.closest(ITEMS);
      if (element && pane.contains(element))
        go(element);
    });
    pane.addEventListener('keydown', event => {
      const element = event.target.closest(ITEMS);
      const to = element && !event.ctrlKey && !event.altKey && !event.metaKey ? target(pane, element, event.key) : null;
      if (to) {
        event.preventDefault();
        go(to);
      }
    });
  }
  for (const button of document.querySelectorAll('.problems button'))
    button.addEventListener('click', () => {
      const node = nodes.get(button.dataset.f);
      if (node)
        mark(node), panes.forEach(pane => show(pane, node));
    });
})();
