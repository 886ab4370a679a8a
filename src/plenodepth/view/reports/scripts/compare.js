"use strict";
// Two pictures on top of each other, with a slider between them.
for (const box of document.querySelectorAll(".compare")) {
  const slider = box.querySelector("input");
  const show = () => box.style.setProperty("--at", slider.value + "%");
  slider.addEventListener("input", show);
  show();
}
