// The value is a Page, see browser.go.
(async () => {
  for (const d of document.querySelectorAll("details")) d.open = true;
  await document.fonts.ready;
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));

  const width = document.documentElement.clientWidth;
  const short = text => text.trim().replace(/\s+/g, " ").slice(0, 60);

  // A wide table may have a box of its own that scrolls.
  const scrolls = e => {
    for (e = e.parentElement; e && e !== document.body && e !== document.documentElement; e = e.parentElement) {
      if (["auto", "scroll"].includes(getComputedStyle(e).overflowX)) return true;
    }
    return false;
  };
  const wide = [];
  for (const e of document.body.querySelectorAll("*")) {
    if (e.ownerSVGElement) continue;
    const box = e.getBoundingClientRect();
    if (box.width > 0 && (box.right > width + 1 || box.left < -1) && !scrolls(e)) {
      wide.push(`${e.tagName.toLowerCase()} "${short(e.textContent)}" from ${box.left} to ${box.right}`);
    }
  }
  if (document.documentElement.scrollWidth > width + 1 && wide.length === 0) {
    wide.push(`something of the ${document.documentElement.scrollWidth} pixels of the page`);
  }

  const figures = [...document.querySelectorAll("svg")].map((svg, i) => {
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")].map(t => {
      const box = t.getBoundingClientRect(), m = t.getScreenCTM();
      // The box has the height of the font's tallest characters. Most texts need less.
      const spare = box.height * 0.15;
      return {
        text: short(t.textContent), level: m !== null && Math.abs(m.b) < 1e-6,
        left: box.left, right: box.right, top: box.top + spare, bottom: box.bottom - spare,
      };
    });
    const outside = texts.filter(t => t.left < frame.left - 1 || t.right > frame.right + 1 ||
      t.top < frame.top - 1 || t.bottom > frame.bottom + 1).map(t => t.text);
    const overlaps = [];
    const level = texts.filter(t => t.level);
    for (const [j, a] of level.entries()) {
      for (const b of level.slice(j + 1)) {
        if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
          Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1) overlaps.push(`"${a.text}" and "${b.text}"`);
      }
    }
    return {
      Name: svg.getAttribute("aria-label") || `number ${i + 1}`, Width: frame.width, Height: frame.height,
      Visible: svg.checkVisibility({visibilityProperty: true, opacityProperty: true}),
      Outside: outside, Overlaps: overlaps,
    };
  });
  const images = [...document.images].map(e =>
    ({Source: e.currentSrc.slice(0, 60), Loaded: e.complete && e.naturalWidth > 0}));
  return {Title: document.title, Figures: figures, Images: images, Width: width, Wide: wide};
})()
