// Marks tables and examples that are wider than their window, so that the style can say it.
const observer = new ResizeObserver((changed) => {
  for (const { target } of changed) {
    const box = target.classList.contains('table') ? target : target.parentElement;
    box.classList.toggle('scrolls', target.scrollWidth > target.clientWidth);
  }
});
for (const wide of document.querySelectorAll('.table, .code pre')) observer.observe(wide);
