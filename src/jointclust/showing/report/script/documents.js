// Texts of the rows: shown with the words that tell their cluster, and searched.

const EXCERPT = 220;
const WORD = /\p{L}[\p{L}\p{N}_'’-]*/gu;
const texts_ = page.shown.filter((column) => column.kind === "text");
const document_ = texts_.find((column) => column.role === "clustered") ?? texts_[0];

// Texts are unpacked when they are first looked at.
function readTexts(column) {
  column.waiting ??= new Response(bytes(column.data)).json().then((found) => {
    column.texts = found;
    column.data = null;
    return column;
  });
  return column.waiting;
}

const textsReady = () => Promise.all(texts_.map(readTexts));

// The words that tell a row's cluster; a word in the text is one of them in any spelling of its letters.
const tellingWords = (i) => new Set(page.words?.[clusters.nodes[clusters.codes[i]]] ?? []);

function marked(text, words) {
  const found = document.createDocumentFragment();
  let last = 0;
  for (const match of text.matchAll(WORD)) {
    if (!words.has(match[0].toLowerCase())) continue;
    found.append(text.slice(last, match.index), make("mark", { textContent: match[0] }));
    last = match.index + match[0].length;
  }
  found.append(text.slice(last));
  return found;
}

// A part of a text around a place.
function excerpt(text, at = 0, most = EXCERPT) {
  const first = Math.max(0, at - most / 3);
  const part = text.slice(first, first + most);
  return (first > 0 ? "…" : "") + part + (first + most < text.length ? "…" : "");
}

function shortText(i) {
  return document_?.texts ? marked(excerpt(document_.texts[i]), tellingWords(i)) : "";
}

function fullTexts(i) {
  return texts_
    .filter((column) => column.texts?.[i])
    .flatMap((column) => [
      make("h4", { textContent: column.name }),
      make("p", { className: "text" }, marked(column.texts[i], column === document_ ? tellingWords(i) : new Set())),
    ]);
}

// ---- search ----

// Rows of which a text says what is looked for, and where in it.
function saying(text) {
  const wanted = text.trim().toLowerCase();
  const found = [];
  if (wanted.length < 2) return found;
  for (const column of texts_) {
    column.lowered ??= column.texts.map((one) => one.toLowerCase());
    for (let i = 0; i < page.n; i++) {
      const at = column.lowered[i].indexOf(wanted);
      if (at >= 0) found.push({ i, at, column });
    }
  }
  return found;
}

function sayingButton({ i, at, column }) {
  const button = make("button", { type: "button", className: "link" });
  button.append(make("b", { textContent: idOf(i) }), ` ${excerpt(column.texts[i], at, 90)}`);
  button.onclick = () => pin(i);
  return button;
}

function selectSaying(found) {
  const rows = new Set(found.map(({ i }) => i));
  const button = make("button", { type: "button", textContent: `Select the ${counted(rows.size)} rows that say it` });
  button.onclick = () => select((i) => rows.has(i));
  return button;
}
