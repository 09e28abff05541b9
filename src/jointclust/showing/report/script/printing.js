// On paper: a summary of a page or two or, where the reader wants it, everything; always in light colours.

// The map as one picture without holes: some viewers of PDF files show nothing of a picture that is transparent.
function printed() {
  const redraw = (value) => () => {
    printing = value;
    painter.paint(1);
    decorate();
    if (value) opaque();
  };
  window.addEventListener("beforeprint", redraw(true));
  window.addEventListener("afterprint", redraw(false));
  by("print-summary").onclick = () => window.print();
  by("print-all").onclick = () => {
    document.documentElement.dataset.print = "all";
    window.print();
    delete document.documentElement.dataset.print;
  };
}

function opaque() {
  const sheet = by("paper");
  Object.assign(sheet, { width: canvas.width, height: canvas.height });
  const pen = sheet.getContext("2d", { alpha: false });
  pen.fillStyle = "#ffffff";
  pen.fillRect(0, 0, sheet.width, sheet.height);
  pen.drawImage(canvas, 0, 0);
  pen.drawImage(overlay, 0, 0);
}
