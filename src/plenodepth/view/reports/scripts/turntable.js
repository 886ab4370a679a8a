"use strict";
// A point cloud on a canvas, drawn by the processor: it needs no graphics card, and runs from a file.
// Embedded: x, y, z of all points as uint16 between `low` and `high`, then red, green, blue, confidence as bytes.
for (const box of document.querySelectorAll(".turntable")) {
  const cloud = JSON.parse(box.querySelector("script").textContent);
  const decoded = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const bytes = decoded(cloud.points), table = decoded(cloud.colors), n = cloud.count;
  const steps = new Uint16Array(bytes.buffer, 0, 3 * n), shades = bytes.subarray(6 * n);
  const place = new Float32Array(3 * n);  // from the pivot, mm
  for (let i = 0; i < 3 * n; i++) {
    const axis = i % 3;
    place[i] = cloud.low[axis] + (steps[i] / 65535) * (cloud.high[axis] - cloud.low[axis]) - cloud.pivot[axis];
  }

  const canvas = box.querySelector("canvas"), context = canvas.getContext("2d");
  const said = box.querySelector("output"), slider = box.querySelector("input[type=range]");
  const colored = { picture: new Uint32Array(n), depth: new Uint32Array(n), confidence: new Uint32Array(n) };
  const packed = (red, green, blue) => 0xff000000 | (blue << 16) | (green << 8) | red;
  const shade = (part) => {
    const at = 3 * Math.max(0, Math.min(255, Math.round(255 * part)));
    return packed(table[at], table[at + 1], table[at + 2]);
  };
  for (let i = 0; i < n; i++) {
    colored.picture[i] = packed(shades[4 * i], shades[4 * i + 1], shades[4 * i + 2]);
    const z = place[3 * i + 2] + cloud.pivot[2];
    colored.depth[i] = shade(1 - (z - cloud.near) / (cloud.far - cloud.near));  // near is bright
    colored.confidence[i] = shade(shades[4 * i + 3] / 255);
  }

  const start = { yaw: 0.16, pitch: -0.1, zoom: 1 };
  let view = { ...start }, colors = colored.picture, touched = false, wanted = false;
  let image = null, pixels = null, depths = null;

  function draw() {
    wanted = false;
    const width = Math.min(1400, Math.round(canvas.clientWidth * Math.min(2, window.devicePixelRatio || 1)));
    const height = Math.round(width * 0.6);
    if (!width) return;
    if (canvas.width !== width || canvas.height !== height || !image) {
      canvas.width = width;
      canvas.height = height;
      image = context.createImageData(width, height);
      pixels = new Uint32Array(image.data.buffer);
      depths = new Float32Array(width * height);
    }
    pixels.fill(0xff222222);
    depths.fill(Infinity);
    const focal = 0.5 * Math.min(width / cloud.half[0], height / cloud.half[1]) * view.zoom;
    const cy = Math.cos(view.yaw), sy = Math.sin(view.yaw), cp = Math.cos(view.pitch), sp = Math.sin(view.pitch);
    const away = cloud.pivot[2], least = Number(slider.value) * 2.55;
    const left = width / 2 - focal * cloud.middle[0], top = height / 2 - focal * cloud.middle[1];
    let shown = 0;
    for (let i = 0; i < n; i++) {
      if (shades[4 * i + 3] < least) continue;
      shown++;
      const x = place[3 * i], y = place[3 * i + 1], z = place[3 * i + 2];
      const side = cy * x + sy * z, ahead = cy * z - sy * x;
      const down = cp * y - sp * ahead, far = sp * y + cp * ahead + away;
      if (far <= 1) continue;
      const column = left + (focal * (side + cloud.pivot[0])) / far, row = top + (focal * (down + cloud.pivot[1])) / far;
      // A point stands for the part of the picture around it, which is larger from nearby.
      const spot = Math.max(1, Math.min(12, Math.ceil((focal * cloud.spacing * (z + away)) / far)));
      const first = Math.round(column - spot / 2), above = Math.round(row - spot / 2);
      const endColumn = Math.min(width, first + spot), endRow = Math.min(height, above + spot), color = colors[i];
      for (let v = Math.max(0, above); v < endRow; v++) {
        for (let at = v * width + Math.max(0, first), end = v * width + endColumn; at < end; at++) {
          if (far < depths[at]) {
            depths[at] = far;
            pixels[at] = color;
          }
        }
      }
    }
    context.putImageData(image, 0, 0);
    said.textContent = shown.toLocaleString("en") + " points";
    box.dataset.shown = shown;
  }

  function redraw() {
    if (!wanted) {
      wanted = true;
      requestAnimationFrame(draw);
    }
  }

  function turn(yaw, pitch, zoom) {
    touched = true;
    view.yaw = Math.max(-1.4, Math.min(1.4, view.yaw + yaw));
    view.pitch = Math.max(-1.2, Math.min(1.2, view.pitch + pitch));
    view.zoom = Math.max(0.3, Math.min(12, view.zoom * zoom));
    redraw();
  }

  // It turns to and fro until it is touched; there is nothing to see from behind.
  const still = window.matchMedia("(prefers-reduced-motion: reduce)");
  let began = null, seen = true;
  if ("IntersectionObserver" in window) {
    new IntersectionObserver((entries) => {
      seen = entries[entries.length - 1].isIntersecting;
      if (seen) requestAnimationFrame(sway);
    }).observe(canvas);
  }
  function sway(time) {
    if (touched || still.matches || !seen) return;
    began = began ?? time;
    view.yaw = start.yaw * Math.cos((time - began) / 1600);
    draw();
    requestAnimationFrame(sway);
  }

  canvas.addEventListener("pointerdown", (event) => canvas.setPointerCapture(event.pointerId));
  canvas.addEventListener("pointermove", (event) => {
    if (event.buttons) turn(-event.movementX * 0.006, -event.movementY * 0.006, 1);
  });
  canvas.addEventListener("wheel", (event) => {
    if (document.activeElement !== canvas) return;  // else the page scrolls: click into the picture first
    event.preventDefault();
    turn(0, 0, Math.exp(-event.deltaY * 0.0015));
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const keys = {
      ArrowLeft: [0.06, 0, 1], ArrowRight: [-0.06, 0, 1], ArrowUp: [0, 0.06, 1], ArrowDown: [0, -0.06, 1],
      "+": [0, 0, 1.15], "=": [0, 0, 1.15], "-": [0, 0, 1 / 1.15],
    };
    if (keys[event.key]) {
      event.preventDefault();
      turn(...keys[event.key]);
    }
  });
  for (const choice of box.querySelectorAll("input[type=radio]")) {
    choice.addEventListener("change", () => {
      colors = colored[choice.value];
      redraw();
    });
  }
  slider.addEventListener("input", redraw);
  box.querySelector("button").addEventListener("click", () => {
    view = { ...start };
    touched = true;
    redraw();
  });
  window.addEventListener("resize", redraw);
  redraw();
  if (!("IntersectionObserver" in window)) requestAnimationFrame(sway);
}
