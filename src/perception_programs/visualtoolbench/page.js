"use strict";
const choices = [...document.querySelectorAll("select[data-of]")];
const tasks = [...document.querySelectorAll(".task")];
const count = document.getElementById("count");
function choose() {
  let shown = 0;
  for (const task of tasks) {
    const fits = choices.every((one) => !one.value || task.dataset[one.dataset.of] === one.value);
    task.hidden = !fits;
    shown += fits;
  }
  count.textContent = `${shown} of ${tasks.length} tasks`;
}
for (const one of choices) one.addEventListener("change", choose);
choose();
