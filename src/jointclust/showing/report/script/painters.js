// Who draws the points: WebGL2, or a plain canvas where there is none.

const VERTEX = `#version 300 es
in float x; in float y; in uint code; in uint cluster; in uint chosen;
uniform vec4 place; uniform float size; uniform bool selecting; uniform bool shaped;
uniform sampler2D palette; uniform sampler2D shown;
out vec4 ink; flat out int shape;
ivec2 cell(uint k) { return ivec2(int(k) & 255, int(k) >> 8); }
void main() {
  vec4 own = texelFetch(palette, cell(code), 0);
  bool visible = own.a > 0.2 && texelFetch(shown, cell(cluster), 0).r > 0.5;
  float depth = shaped ? 0.0 : code == 255u ? 1.0 : 0.9 - 0.9 * float(code) / 254.0;  // large values lie on top
  gl_Position = visible ? vec4(x * place.x + place.z, y * place.y + place.w, depth, 1.0) : vec4(2.0, 2.0, 0.0, 1.0);
  bool strong = !selecting || chosen == 1u;
  gl_PointSize = size * (selecting && strong ? 1.35 : 1.0);
  ink = vec4(own.rgb, strong ? 0.85 : 0.12);
  shape = shaped ? int((1.0 - own.a) * 8.0 + 0.5) : 0;
}`;
const FRAGMENT = `#version 300 es
precision mediump float;
in vec4 ink; flat in int shape; out vec4 result;
void main() {
  vec2 p = gl_PointCoord * 2.0 - 1.0;
  float d = shape == 0 ? length(p) : shape == 1 ? max(abs(p.x), abs(p.y)) * 1.15
    : shape == 2 ? max(abs(p.x) * 1.7 - p.y * 0.9, p.y * 1.6) * 0.62 : abs(p.x) + abs(p.y);
  float a = ink.a * (1.0 - smoothstep(0.75, 1.0, d));
  if (a < 0.1) discard;
  result = vec4(ink.rgb * a, a);
}`;

// The last channel of the palette says whether rows are shown and, by eighths, in which shape.
const paletteAlpha = (k) => (state.hiddenColour.has(k) ? 0 : 255 - 32 * shapeOf(k, state.colour));

function glPainter() {
  const gl = canvas.getContext("webgl2", { alpha: true, antialias: false, preserveDrawingBuffer: true });
  if (!gl) return null;
  const program = gl.createProgram();
  for (const [kind, source] of [
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) return null;
  gl.useProgram(program);
  gl.enable(gl.BLEND);
  gl.enable(gl.DEPTH_TEST);
  gl.depthFunc(gl.LEQUAL);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  const uniform = (name) => gl.getUniformLocation(program, name);
  const stored = new Map();

  function attribute(name, values, kind, step) {
    if (!stored.has(values)) {
      stored.set(values, gl.createBuffer());
      gl.bindBuffer(gl.ARRAY_BUFFER, stored.get(values));
      gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, stored.get(values));
    const where = gl.getAttribLocation(program, name);
    gl.enableVertexAttribArray(where);
    const size = values.BYTES_PER_ELEMENT;
    const type = size === 1 ? gl.UNSIGNED_BYTE : gl.UNSIGNED_SHORT;
    if (kind === "axis") gl.vertexAttribPointer(where, 1, type, true, step * size, 0);
    else gl.vertexAttribIPointer(where, 1, type, step * size, 0);
  }
  function texture(slot, name, pixels) {
    const rows = Math.ceil(pixels.length / 4 / 256);
    const data = new Uint8Array(rows * 1024);
    data.set(pixels);
    gl.activeTexture(gl.TEXTURE0 + slot);
    gl.bindTexture(gl.TEXTURE_2D, (texture[name] ??= gl.createTexture()));
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, rows, 0, gl.RGBA, gl.UNSIGNED_BYTE, data);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.uniform1i(uniform(name), slot);
  }
  const none = new Uint8Array(page.n);
  let selection = none;
  return {
    select(flags) {
      if (selection !== none) {
        gl.deleteBuffer(stored.get(selection));
        stored.delete(selection);
      }
      selection = flags ?? none;
    },
    paint(step) {
      const { w, h, dpr } = box();
      const t = transform();
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
      attribute("x", page.axes[view.x].codes, "axis", step);
      attribute("y", page.axes[view.y].codes, "axis", step);
      attribute("code", inksOf(state.colour), "code", step);
      attribute("cluster", clusters.codes, "code", step);
      attribute("chosen", selection, "code", step);
      texture(
        0,
        "palette",
        coloursOf(state.colour).flatMap((c, k) => [...c, paletteAlpha(k)]),
      );
      texture(
        1,
        "shown",
        clusters.names.flatMap((_, k) => [state.hiddenClusters.has(k) ? 0 : 255, 0, 0, 255]),
      );
      gl.uniform4f(uniform("place"), (2 * t.sx) / w, (-2 * t.sy) / h, (2 * t.ox) / w - 1, 1 - (2 * t.oy) / h);
      gl.uniform1f(uniform("size"), pointSize() * dpr);
      gl.uniform1i(uniform("selecting"), selection !== none);
      gl.uniform1i(uniform("shaped"), state.colour.kind === "category");
      gl.drawArrays(gl.POINTS, 0, Math.floor((page.n - 1) / step) + 1);
    },
    finish() {
      gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
    },
  };
}

function plainPainter() {
  const context = canvas.getContext("2d");
  const least = Math.ceil(page.n / PLAIN_LIMIT);
  tell("This browser has no WebGL2: the map is drawn the slow way" + (least > 1 ? `, one row in ${least}.` : "."));
  let flags = null;
  return {
    select(chosen) {
      flags = chosen;
    },
    paint(step) {
      const { dpr } = box();
      const t = transform();
      const size = pointSize();
      const table = coloursOf(state.colour);
      const inks = inksOf(state.colour);
      context.setTransform(dpr, 0, 0, dpr, 0, 0);
      context.clearRect(0, 0, canvas.width, canvas.height);
      for (let i = 0; i < page.n; i += Math.max(step, least)) {
        if (isHidden(i)) continue;
        context.globalAlpha = flags && !flags[i] ? 0.12 : 0.85;
        context.fillStyle = `rgb(${table[inks[i]]})`;
        const [x, y] = placeOf(i, t);
        context.fillRect(x - size / 2, y - size / 2, size, size);
      }
    },
    finish() {},
  };
}

function tell(text) {
  by("message").textContent = text;
  by("message").hidden = false;
}

// Where a whole picture takes long, one with fewer points follows the hand, and the whole one comes when it rests.
const FRAME = 60;
const SHARE = 10;
let thin = 1;
let rest = 0;
let moving = false;
let waiting = false;
function draw(hand = false) {
  moving = hand && thin > 1;
  clearTimeout(rest);
  if (moving) rest = setTimeout(draw, 250);
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    if (!moving) paintBeside();
    painter.paint(moving ? thin : 1);
    decorate();
  });
}

function measure() {
  let began = 0;
  for (let round = 0; round < 2; round++) {
    // the first one also sends the data to the graphics card
    began = performance.now();
    painter.paint(SHARE);
    painter.finish();
  }
  thin = Math.max(1, Math.ceil((SHARE * (performance.now() - began)) / FRAME));
  draw();
}

function resize() {
  const { w, h, dpr } = box();
  for (const surface of [canvas, overlay]) {
    surface.width = Math.round(w * dpr);
    surface.height = Math.round(h * dpr);
  }
  draw();
}
