"""A spider that follows every link of one host. Started by scrapy.ts with URL and concurrency."""

import sys
from urllib.parse import urlsplit

from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

url, concurrency = sys.argv[1], int(sys.argv[2])


class Pages(CrawlSpider):
    name = "pages"
    start_urls = [url]
    rules = [Rule(LinkExtractor(allow_domains=[urlsplit(url).netloc]), follow=True)]


process = CrawlerProcess(
    {
        "CONCURRENT_REQUESTS": concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": concurrency,
        "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": True,
        "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7",
        "LOG_LEVEL": "ERROR",
        "TELNETCONSOLE_ENABLED": False,
    }
)
process.crawl(Pages)
process.start()
